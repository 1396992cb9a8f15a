#include "record/calibrate/known_topology.h"

#include "platform/read_file.h"

#include <cstring>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr const char* kName = "topology-xml";

} // namespace

std::string topology_conditions(const std::string& root, const std::string& allowed_cpus) {
    for (char** variable = environ; variable && *variable; ++variable)
        if (std::strncmp(*variable, "HWLOC_", 6) == 0)
            return {};
    std::string conditions = "cpus " + allowed_cpus;
    for (const char* file : {"/sys/devices/system/cpu/online", "/sys/devices/system/node/online",
                             "/sys/devices/system/node/has_memory", "/proc/self/cgroup"})
        conditions += "\n" + platform::read_file(root + file, 4096).value_or("");
    return conditions;
}

std::string known_topology_xml(platform::MachineCache& cache, const std::string& conditions,
                               const std::function<std::string()>& ask) {
    if (conditions.empty())
        return ask();
    // One answer is kept, with its conditions before it: those of earlier ones do not pile up.
    if (const auto kept = cache.find(kName); kept && kept->starts_with(conditions) && kept->size() > conditions.size() &&
                                             (*kept)[conditions.size()] == '\0')
        return kept->substr(conditions.size() + 1);
    std::string xml = ask();
    if (!xml.empty())
        cache.keep(kName, conditions + '\0' + xml);
    return xml;
}

} // namespace plumb::record
