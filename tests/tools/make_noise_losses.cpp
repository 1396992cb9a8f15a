// make-noise-losses CLASSES.json [options]: writes to stdout, as a table for `plumb noise --losses`, the losses that fixed work
// quanta would have measured on the machine of a classes file. The same options give the same bytes.
#include "noise_losses.h"

#include "noise/classes_file.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

int main(int argc, char** argv) {
    CLI::App app("Writes the losses of a machine whose noise is known.");
    plumb::tools::NoiseMeasurement measurement;
    std::string path;
    uint32_t nodes = 0, cpus = 0;
    double total_loss = 0;
    app.add_option("CLASSES", path, "the machine's noise")->required();
    app.add_option("--nodes", nodes, "instead of the file's");
    app.add_option("--cpus", cpus, "of a node, instead of the file's");
    app.add_option("--quanta", measurement.quanta, "of each CPU");
    app.add_option("--quantum", measurement.quantum_s, "seconds");
    app.add_option("--loss", total_loss, "share of all time; random short losses make up what the classes leave of it");
    app.add_option("--background-mean", measurement.background_mean_s, "mean length of these, in seconds");
    app.add_option("--least", measurement.least_s, "shorter losses are left out, in seconds");
    app.add_option("--seed", measurement.seed);
    CLI11_PARSE(app, argc, argv);
    try {
        measurement.machine = plumb::noise::read_classes_file(path);
        if (nodes)
            measurement.machine.nodes = nodes;
        if (cpus)
            measurement.machine.cpus_per_node = cpus;
        if (!measurement.machine.nodes || !measurement.machine.cpus_per_node || !(measurement.quantum_s > 0))
            throw plumb::Error("how many nodes and CPUs there are is not said: --nodes and --cpus");
        for (const auto& one : measurement.machine.classes)
            if (!one.cpus.empty() && one.cpus.back() >= static_cast<int>(measurement.machine.cpus_per_node))
                throw plumb::Error(fmt::format("class \"{}\" is on CPU {}, and there are {}", one.name, one.cpus.back(),
                                               measurement.machine.cpus_per_node));
        const double of_classes = plumb::tools::loss_of_classes(measurement.machine);
        measurement.background_loss = std::max(0.0, total_loss - of_classes);
        const auto losses = plumb::tools::make_noise_losses(measurement);
        fmt::print("# measured_s={:.6f}\n# nodes={}\n# cpus_per_node={}\n# least_s={}\nnode,cpu,time_s,loss_s\n",
                   losses.measured_s, losses.nodes, losses.cpus_per_node, losses.least_s);
        for (const auto& loss : losses.losses)
            fmt::print("{},{},{:.6f},{:.7f}\n", loss.node, loss.cpu, loss.begin_s, loss.length_s);
    } catch (const plumb::Error& error) {
        fmt::print(stderr, "make-noise-losses: {}\n", error.what());
        return 1;
    }
    return 0;
}
