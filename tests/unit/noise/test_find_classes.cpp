// Classes found in losses whose noise is known. Prints what was found and what differs.
#include "noise_truth.h"

#include "noise/find_classes.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace plumb;
using tools::NoiseMeasurement;

namespace {

tools::NoiseComparison found_in(const NoiseMeasurement& measurement, const std::string& what) {
    const auto found = noise::find_noise(tools::make_noise_losses(measurement));
    const auto comparison = tools::compare_noise(measurement, found.machine);
    fmt::print("{}: {} classes, {} found, {} exactly, {} invented; {:.0f} % of the loss in none\n", what,
               comparison.true_classes, comparison.found_classes, comparison.recovered, comparison.invented,
               100 * found.unexplained_share());
    for (const std::string& difference : comparison.differences)
        fmt::print("    {}\n", difference);
    return comparison;
}

// Eight clusters of the published machine.
NoiseMeasurement published(model::NoiseClass::Scope kernel_scope, double loss, uint64_t quanta) {
    NoiseMeasurement measurement{.machine = tools::published_machine(256, kernel_scope)};
    measurement.quanta = quanta;
    measurement.background_loss = loss - tools::loss_of_classes(measurement.machine);
    return measurement;
}

} // namespace

TEST_CASE("all classes of the published machine are found at 0.3 % loss, and no other") {
    // One CPU of a node has the kernel's heartbeats, which leaves 0.1 % for the background.
    const auto comparison = found_in(published(model::NoiseClass::Scope::node, 0.003, 100'000), "published machine, 0.3 %");
    CHECK(comparison.recovered == 10);
    CHECK(comparison.invented == 0);
}

TEST_CASE("all classes of the published machine are found at 2.5 % loss, and no other") {
    const auto comparison = found_in(published(model::NoiseClass::Scope::cpu, 0.025, 100'000), "published machine, 2.5 %");
    CHECK(comparison.recovered == 10);
    CHECK(comparison.invented == 0);
}

TEST_CASE("background alone, up to an eighth of all time, makes no class") {
    for (const double loss : {0.001, 0.02, 0.12})
        for (const uint32_t nodes : {1u, 64u}) {
            NoiseMeasurement measurement{.machine = {.name = "", .nodes = nodes, .cpus_per_node = 2, .classes = {}}};
            measurement.quanta = 20'000;
            measurement.background_loss = loss;
            measurement.seed = nodes + static_cast<uint64_t>(1e4 * loss);
            CHECK(found_in(measurement, fmt::format("background of {:.1f} %, {} nodes", 100 * loss, nodes)).found_classes == 0);
        }
}

TEST_CASE("a workstation's ten seconds show its daemon and its timer") {
    NoiseMeasurement measurement{.machine = {.name = "", .nodes = 1, .cpus_per_node = 2, .classes = {}}};
    model::NoiseClass daemon;
    daemon.name = "daemon";
    daemon.frequency_hz = 2;
    daemon.duration.mean_s = 20e-3;
    daemon.cpus = {1};
    model::NoiseClass timer;
    timer.name = "timer";
    timer.frequency_hz = 10;
    timer.duration.mean_s = 0.3e-3;
    timer.scope = model::NoiseClass::Scope::cpu;
    measurement.machine.classes = {daemon, timer};
    measurement.quanta = 10'000;
    measurement.background_loss = 0.01;
    const auto comparison = found_in(measurement, "workstation");
    CHECK(comparison.recovered == 2);
    CHECK(comparison.invented == 0);
}

TEST_CASE("of random machines most classes are found exactly, and few are invented", "[odds]") {
    size_t classes = 0, recovered = 0, found = 0, invented = 0;
    for (uint64_t seed = 1000; seed < 1014; ++seed) {
        const auto comparison = found_in(tools::random_measurement(seed), fmt::format("random machine {}", seed));
        classes += comparison.true_classes;
        recovered += comparison.recovered;
        found += comparison.found_classes;
        invented += comparison.invented;
    }
    fmt::print("random machines: recall {:.2f}, precision {:.2f}\n",
               static_cast<double>(recovered) / static_cast<double>(classes),
               1 - static_cast<double>(invented) / static_cast<double>(found));
    CHECK(10 * recovered >= 7 * classes);
    CHECK(10 * invented <= 2 * found);
}
