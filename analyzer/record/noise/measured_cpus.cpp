#include "record/noise/measured_cpus.h"

#include "platform/cpu_list.h"
#include "platform/cpuset.h"
#include "record/noise/quanta_worker.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

namespace plumb::record {

std::vector<int> usable_cpus(bool beyond_launcher) {
    std::vector<int> usable = platform::affinity_mask();
    if (!beyond_launcher)
        return usable;
    // The kernel cuts what is asked for down to what is allowed; a thread of its own, so that this one stays where it is.
    std::thread([&usable] {
        std::vector<unsigned char> all(8192, 0xff); // 65,536 CPUs
        if (sched_setaffinity(0, all.size(), reinterpret_cast<cpu_set_t*>(all.data())) == 0)
            usable = platform::affinity_mask();
    }).join();
    return usable;
}

std::vector<int> measured_cpus(const std::string& wanted, const std::vector<int>& usable, int configured) {
    if (wanted == "all")
        return usable;
    const auto list = platform::parse_cpu_list(wanted);
    if (!list || list->empty())
        throw UsageError(fmt::format("--cpus {} is no list of CPUs: all, or numbers and ranges as 0,2-5, are needed", wanted));
    std::vector<int> absent, refused;
    for (const int cpu : *list) {
        if (cpu >= configured)
            absent.push_back(cpu);
        else if (!std::ranges::binary_search(usable, cpu))
            refused.push_back(cpu);
    }
    if (!absent.empty())
        throw UsageError(fmt::format("--cpus {}: this machine has no CPU {}, its CPUs are 0-{}", wanted,
                                     platform::format_cpu_list(absent), configured - 1));
    if (!refused.empty())
        throw UsageError(fmt::format("--cpus {}: CPU {} is offline, or this process may not use it; it may use {}", wanted,
                                     platform::format_cpu_list(refused), platform::format_cpu_list(usable)));
    return *list;
}

} // namespace plumb::record
