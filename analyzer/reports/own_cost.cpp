#include "reports/own_cost.h"
#include "reports/quantity.h"

#include <fmt/format.h>

namespace plumb {

double cpu_seconds_of(const model::Run& run) {
    uint64_t total_ns = 0;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            total_ns += thread.run_ns ? thread.run_ns : thread.user_ns + thread.system_ns;
    return static_cast<double>(total_ns) * 1e-9;
}

OwnCost own_cost_of(const model::Run& run, double cpu_seconds) {
    double recorder = 0, sampling = 0, shim = 0, stand_ins = 0;
    uint64_t samples = 0;
    for (const model::Host& host : run.hosts) {
        recorder += static_cast<double>(host.recorder_cpu_ns) * 1e-9;
        sampling += static_cast<double>(host.samples) * static_cast<double>(host.sample_cost_ns) * 1e-9;
        samples += host.samples;
    }
    for (const model::Process& process : run.processes) {
        shim += static_cast<double>(process.own_cost_ns) * 1e-9;
        stand_ins += static_cast<double>(process.alignment.stand_in_ns) * 1e-9;
    }
    OwnCost cost;
    cost.seconds = recorder + sampling + shim + stand_ins;
    cost.fraction = cpu_seconds > 0 ? cost.seconds / cpu_seconds : 0;
    cost.bytes = run.recorded_bytes;
    cost.how =
        fmt::format("Recorder {} (its own CPU clock), {} samples {}, inside the program {} (estimated per "
                    "event){}; as a fraction of the run's CPU time of {}.",
                    format_seconds(recorder), format_count(static_cast<double>(samples)),
                    samples > 0 && sampling == 0 ? "of unknown cost"
                                                 : format_seconds(sampling) + " (estimated per sample)",
                    format_seconds(shim),
                    stand_ins > 0 ? fmt::format(", in code that counts unaligned accesses {} (sampled; the accesses "
                                                "themselves are part of it)", format_seconds(stand_ins))
                                  : "",
                    format_seconds(cpu_seconds));
    return cost;
}

} // namespace plumb
