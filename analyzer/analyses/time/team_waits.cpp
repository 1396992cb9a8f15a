#include "analyses/time/team_waits.h"

namespace plumb {

std::vector<std::optional<double>> team_waits_of(const model::Process& process) {
    std::vector<std::optional<double>> waits(process.threads.size());
    if (!process.openmp)
        return waits;
    std::vector<bool> is_unknown(waits.size());
    for (const model::OmpRegion& region : process.openmp->regions) {
        for (const uint32_t master : region.masters)
            if (master < is_unknown.size())
                is_unknown[master] = true;
        for (const model::OmpPart& part : region.parts)
            if (part.thread < waits.size()) {
                waits[part.thread] = waits[part.thread].value_or(0) + static_cast<double>(part.end_wait_ns + part.wait_ns) * 1e-9;
                if (region.compared != region.begun)
                    is_unknown[part.thread] = true;
            }
    }
    for (size_t thread = 0; thread < waits.size(); ++thread)
        if (is_unknown[thread])
            waits[thread].reset();
    return waits;
}

} // namespace plumb
