// The published machine at its size, 1,024 nodes of 4 CPUs, 100,000 quanta of 1 ms each: which classes are found in its losses,
// how long the search takes and how much memory. Both loss levels; fails where a class is missed, inexact or invented.
#include "noise_truth.h"

#include "noise/find_classes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <sys/resource.h>

using namespace plumb;

namespace {

double since_s(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool is_found(model::NoiseClass::Scope kernel_scope, double loss, uint32_t nodes) {
    tools::NoiseMeasurement measurement{.machine = tools::published_machine(nodes, kernel_scope)};
    measurement.background_loss = std::max(0.0, loss - tools::loss_of_classes(measurement.machine));
    const auto losses = tools::make_noise_losses(measurement);
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    const auto found = noise::find_noise(losses);
    const double cpu_s = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC, wall_s = since_s(begin);
    const auto comparison = tools::compare_noise(measurement, found.machine);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{} nodes, {:.1f} % loss, {} losses of at least {:.0f} us: {} of {} classes exactly, {} invented, {:.0f} % of the loss "
        "measured in none; {:.1f} s ({:.1f} s of CPU time), {} MiB with the losses\n",
        nodes, 100 * loss, losses.losses.size(), 1e6 * losses.least_s, comparison.recovered, comparison.true_classes,
        comparison.invented, 100 * found.unexplained_share(), wall_s, cpu_s, usage.ru_maxrss / 1024);
    for (const std::string& difference : comparison.differences)
        fmt::print("    {}\n", difference);
    for (const model::NoiseClass& one : found.machine.classes)
        fmt::print("    {}: {} events, {:.2f} % of the loss\n", one.name, one.events, 100 * one.loss_share);
    return comparison.recovered == comparison.true_classes && comparison.invented == 0;
}

} // namespace

int main(int argc, char** argv) {
    const auto nodes = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1024);
    using Scope = model::NoiseClass::Scope;
    // At 0.3 % one CPU of a node has the kernel's heartbeats: on all four they alone are 0.6 %.
    const bool low = is_found(Scope::node, 0.003, nodes);
    const bool high = is_found(Scope::cpu, 0.025, nodes);
    return low && high ? 0 : 1;
}
