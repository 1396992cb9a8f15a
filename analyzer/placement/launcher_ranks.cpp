#include "placement/launcher_ranks.h"

#include "platform/task_stat.h"

#include <plumb/launchers.h>

#include <algorithm>
#include <unistd.h>

namespace plumb::placement {

namespace {

struct Context {
    const char* (*get)(const char* name);
    const std::string& proc_root;
};

const char* variable(const void* context, const char* name) { return static_cast<const Context*>(context)->get(name); }

int process(const void* context, long pid, char name[launchers::kNameRoom], long* parent) {
    const auto stat = platform::read_process_stat(static_cast<const Context*>(context)->proc_root, static_cast<uint32_t>(pid));
    if (!stat)
        return 0;
    const size_t length = std::min<size_t>(stat->name.size(), launchers::kNameRoom - 1);
    std::copy_n(stat->name.begin(), length, name);
    name[length] = '\0';
    *parent = stat->parent_pid;
    return 1;
}

} // namespace

std::optional<LaunchedRank> launched_rank(const char* (*get)(const char* name), const std::string& proc_root) {
    const Context context{get, proc_root};
    const launchers::Surroundings around{&context, variable, process, getppid()};
    const launchers::RankPlace place = launchers::find_rank(&around);
    if (!place.launcher)
        return std::nullopt;
    LaunchedRank rank{place.launcher->name, place.rank, place.count, place.local_rank, place.local_count, {}};
    if (const char* job = launchers::job_name(place.launcher, &around)) {
        rank.job = job;
        if (const char* step = place.launcher->step ? get(place.launcher->step) : nullptr)
            rank.job += std::string(".") + step;
    }
    return rank;
}

} // namespace plumb::placement
