#include "diagnoses/common/changeable_code.h"
#include "model/call_paths.h"

#include <algorithm>

namespace plumb {

bool is_users_program(const model::Process& process) {
    for (const model::Module& module : process.modules)
        if (module.kind == model::Module::Kind::program)
            return !model::is_packaged_file(module.path);
    return !model::is_packaged_file(process.executable);
}

double repeated_fault_share(const model::Run& run) {
    double faulted_bytes = 0, repeated_bytes = 0;
    for (const model::Process& process : run.processes) {
        uint64_t faults = 0;
        for (const model::Thread& thread : process.threads)
            faults += thread.minor_faults;
        const double bytes = static_cast<double>(faults) * model::kPageBytes; // more where pages are huge
        faulted_bytes += bytes;
        if (is_users_program(process))
            repeated_bytes += std::max(0.0, bytes - static_cast<double>(kStartFaults * model::kPageBytes + process.max_rss_bytes));
    }
    return faulted_bytes > 0 ? repeated_bytes / faulted_bytes : 0;
}

} // namespace plumb
