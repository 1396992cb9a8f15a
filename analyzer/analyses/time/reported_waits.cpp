#include "analyses/time/reported_waits.h"

namespace plumb {

namespace {

constexpr uint64_t kLeastLooks = 5;
constexpr double kLeastWallShare = 0.01;

} // namespace

std::string call_name(const WaitClass& what) { return what.what.substr(0, what.what.find(' ')); }

bool is_reported_as_wait(model::CallPaths& paths, const std::string& system_call) {
    const std::vector<model::Process>& processes = paths.run().processes;
    double followed_ns = 0, reported_ns = 0;
    uint64_t looks = 0;
    const auto add = [&](const auto& waiting) {
        looks += waiting.looks;
        reported_ns += static_cast<double>(waiting.wall_ns);
    };
    for (size_t process = 0; process < processes.size(); ++process) {
        for (const model::Thread& thread : processes[process].threads)
            followed_ns += static_cast<double>(thread.wall_running_ns);
        for (const model::BlockedSite& site : processes[process].blocked) {
            followed_ns += static_cast<double>(site.wall_ns);
            const WaitClass what = wait_class_of(paths, process, site);
            if ((what.kind == WaitKind::file || what.kind == WaitKind::file_sync) && call_name(what) == system_call)
                add(site);
        }
        if (system_call == "futex")
            for (const model::LockHolder& holder : processes[process].lock_holders)
                add(holder);
    }
    return looks >= kLeastLooks && reported_ns >= kLeastWallShare * followed_ns && followed_ns > 0;
}

} // namespace plumb
