#include "diagnoses/common/task_names.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

std::string task_name(const model::Run& run, const Task& task) {
    const model::Process& process = run.processes[task.process];
    const model::Thread& thread = process.threads[task.thread];
    const std::string& name = thread.name.empty() ? process.name : thread.name;
    const std::string rank = process.rank >= 0 ? fmt::format("rank {}, ", process.rank) : std::string();
    return fmt::format("{} ({}thread {})", name, rank, thread.tid);
}

std::string cpu_names(const model::CpuSet& cpus) {
    std::vector<std::string> ranges;
    for (size_t i = 0; i < cpus.size();) {
        size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            last++;
        if (last >= i + 2) {
            ranges.push_back(fmt::format("{}-{}", cpus[i], cpus[last]));
            i = last + 1;
        } else {
            ranges.push_back(fmt::format("{}", cpus[i++]));
        }
    }
    std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
    for (size_t i = 0; i < ranges.size(); i++)
        text += (i == 0 ? "" : i + 1 == ranges.size() ? " and " : ", ") + ranges[i];
    return text;
}

std::string count_of(const std::vector<Task>& tasks) {
    std::set<size_t> processes;
    for (const Task& task : tasks)
        processes.insert(task.process);
    const bool copies = processes.size() == tasks.size() && tasks.size() > 1;
    return fmt::format("{} {}{}", tasks.size(), copies ? "process" : "thread",
                       tasks.size() == 1 ? "" : copies ? "es" : "s");
}

LineShares lines_of(model::CallPaths& paths, const std::vector<Task>& tasks) {
    std::map<size_t, std::set<size_t>> threads; // by process
    for (const Task& task : tasks)
        threads[task.process].insert(task.thread);
    LineShares lines;
    for (const auto& [process, wanted] : threads)
        for (const model::SampleSite& site : paths.run().processes[process].samples)
            if (wanted.count(site.thread))
                lines.add(paths.user_frame(process, site.path), static_cast<double>(site.time_ns));
    return lines;
}

} // namespace plumb
