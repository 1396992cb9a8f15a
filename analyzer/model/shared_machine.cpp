#include "model/shared_machine.h"

#include <algorithm>
#include <set>
#include <utility>

namespace plumb::model {

bool share_cpus(const Host& one, const Host& other) {
    return &one != &other && one.machine != 0 && one.machine == other.machine && one.allowed_cpus == other.allowed_cpus;
}

bool is_counted_before(const Run& run, const Host& host) {
    for (const Host& earlier : run.hosts) {
        if (&earlier == &host)
            return false;
        if (share_cpus(earlier, host))
            return true;
    }
    return false;
}

bool runs_there(const Run& run, const Process& process, const Host& host) {
    if (process.host.empty() || process.host == host.name)
        return true;
    return std::ranges::any_of(run.hosts, [&](const Host& other) { return other.name == process.host && share_cpus(other, host); });
}

void forget_own_among_others(Run& run, const std::vector<Recorder>& recorders) {
    for (Host& host : run.hosts) {
        std::set<std::pair<uint32_t, std::string>> own;
        for (const Process& process : run.processes)
            if (process.host != host.name && runs_there(run, process, host))
                own.emplace(process.pid, process.name);
        for (const Recorder& recorder : recorders)
            if (recorder.host < run.hosts.size() && share_cpus(run.hosts[recorder.host], host))
                own.emplace(recorder.pid, "plumb");
        std::erase_if(host.others, [&](const OtherProcess& other) { return own.contains({other.pid, other.name}); });
    }
}

} // namespace plumb::model
