#include "analysis/own_cost.h"

#include "analyses/time/own_time.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

double cpu_seconds_of(const model::Run& run) {
    uint64_t total_ns = 0;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            total_ns += thread.run_ns ? thread.run_ns : thread.user_ns + thread.system_ns;
    return static_cast<double>(total_ns) * 1e-9;
}

OwnCost own_cost_of(const model::CallPaths& paths, double cpu_seconds) {
    const OwnTime own = own_time_of(paths);
    OwnCost cost;
    cost.seconds = own.total();
    cost.fraction = cpu_seconds > 0 ? cost.seconds / cpu_seconds : 0;
    cost.bytes = paths.run().recorded_bytes;
    cost.how = fmt::format(
        "Recorder {} (its own CPU clock), {} samples {}{}, inside the program {} ({}){}{}; as a fraction of the run's CPU time of {}.",
        format_seconds(own.recorder), format_count(static_cast<double>(own.samples)),
        own.samples > 0 && own.sampling == 0 ? "of unknown cost" : format_seconds(own.sampling) + " (estimated per sample)",
        own.switches > 0 ? fmt::format(", records of switches {} (estimated)", format_seconds(own.switches)) : "",
        format_seconds(own.shim), own.shim_was_sampled ? "half of what was sampled there" : "estimated per event",
        own.loading > 0 ? fmt::format(", loading libplumb.so {} (estimated per program)", format_seconds(own.loading)) : "",
        own.stand_ins > 0 ? fmt::format(", code that counts unaligned accesses {} (sampled; includes the accesses themselves)", format_seconds(own.stand_ins))
                          : "",
        format_seconds(cpu_seconds));
    return cost;
}

} // namespace plumb
