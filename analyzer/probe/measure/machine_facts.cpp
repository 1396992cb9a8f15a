#include "probe/measure/machine_facts.h"

#include "platform/cache_levels.h"
#include "platform/node_stat.h"
#include "platform/read_file.h"
#include "support/trimmed.h"

#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>

namespace plumb::probe {

namespace {

// "model name" of /proc/cpuinfo; on Arm there are numbers only.
std::string cpu_model(const std::string& root) {
    const auto text = platform::read_file(root + "/proc/cpuinfo");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        const std::string_view line = platform::next_line(rest);
        const size_t colon = line.find(':');
        if (colon != std::string_view::npos && (line.starts_with("model name") || line.starts_with("CPU part")))
            return std::string(trimmed(line.substr(colon + 1)));
    }
    return "unknown";
}

} // namespace

MachineFacts machine_facts(const std::string& root, int first_cpu) {
    MachineFacts facts;
    utsname names{};
    if (uname(&names) == 0) {
        facts.host = names.nodename;
        facts.kernel = std::string(names.sysname) + " " + names.release;
    }
    facts.cpu_model = cpu_model(root);
    facts.clock_source =
        trimmed(platform::read_file(root + "/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or(""));
    facts.cpu_count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    for (const platform::NodeMemoryStat& node : platform::read_node_memory(root + "/proc", root + "/sys"))
        facts.memory_bytes += node.total_bytes;
    if (const auto caches = platform::read_cache_levels(root, first_cpu); !caches.empty())
        facts.cache_bytes = caches.back().bytes();
    return facts;
}

} // namespace plumb::probe
