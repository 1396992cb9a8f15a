#include "probe/judge/outcome.h"

#include "platform/cpu_list.h"

namespace plumb::probe {

ProbeOutcome judge(Measured measured, const std::vector<platform::CpuPath>& kernel, double limit) {
    ProbeOutcome outcome;
    outcome.limit = limit;
    outcome.figures = figures_of(measured);
    outcome.slow = slow_cpus(measured.cpus, limit);
    for (const PairTurns& pair : measured.pairs)
        outcome.pairs.push_back(figures_of(pair));
    outcome.shared = shared_paths(outcome.pairs);
    outcome.disagreements = disagreements(outcome.shared, outcome.pairs, kernel);
    outcome.measured = std::move(measured);
    return outcome;
}

EarlierProbe record_of(const ProbeOutcome& outcome) {
    const Measured& measured = outcome.measured;
    std::vector<int> cpus;
    for (const CpuTurns& cpu : measured.cpus)
        cpus.push_back(cpu.cpu);
    return {.id = 0, .begin_s = measured.begin_s, .took_s = measured.took_s, .rounds = measured.rounds,
            .host = measured.machine.host, .kernel = measured.machine.kernel, .cpu_model = measured.machine.cpu_model,
            .cpus = platform::format_cpu_list(cpus), .cpu_count = measured.machine.cpu_count,
            .memory_bytes = measured.machine.memory_bytes, .figures = outcome.figures};
}

} // namespace plumb::probe
