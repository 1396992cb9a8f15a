#include "analyses/analyses.h"

namespace plumb {

Analyses analyses_of(model::CallPaths& paths) {
    Analyses analyses;
    analyses.account = time_account(paths);
    analyses.memory = memory_use_of(paths);
    analyses.memory_cases = memory_cases_of(paths.run(), analyses.memory.objects);
    analyses.accesses = unaligned_accesses_of(paths);
    analyses.spinning = spinning_of(paths);
    analyses.serial_phases = serial_phases_of(paths);
    analyses.heap = heap_profile_of(paths);
    analyses.bandwidth = bandwidth_use_of(paths.run());
    return analyses;
}

} // namespace plumb
