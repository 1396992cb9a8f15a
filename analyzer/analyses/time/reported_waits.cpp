#include "analyses/time/reported_waits.h"

#include "analyses/time/run_totals.h"

#include <map>
#include <set>

namespace plumb {

namespace {

constexpr uint64_t kLeastLooks = 5;
constexpr double kLeastWallShare = 0.01;

WaitKind kind_of(model::CallPaths& paths, size_t process, const model::WaitedFor& waited) {
    const model::BlockedSite site{.thread = waited.thread, .path = waited.path, .system_call = waited.system_call,
                                  .descriptor = waited.descriptor, .object = waited.object};
    return wait_class_of(paths, process, site).kind;
}

} // namespace

std::string call_name(const WaitClass& what) { return what.what.substr(0, what.what.find(' ')); }

bool is_reported_as_wait(model::CallPaths& paths, const std::string& system_call) {
    const std::vector<model::Process>& processes = paths.run().processes;
    double reported_ns = 0;
    uint64_t looks = 0;
    const auto add = [&](const auto& waiting) {
        looks += waiting.looks;
        reported_ns += static_cast<double>(waiting.wall_ns);
    };
    for (size_t process = 0; process < processes.size(); ++process) {
        for (const model::BlockedSite& site : processes[process].blocked) {
            const WaitClass what = wait_class_of(paths, process, site);
            if ((what.kind == WaitKind::file || what.kind == WaitKind::file_sync) && call_name(what) == system_call)
                add(site);
        }
        if (system_call == "futex") {
            for (const model::LockHolder& holder : processes[process].lock_holders)
                add(holder);
            std::map<uint64_t, std::set<uint32_t>> users; // threads, by lock
            for (const bool adds : {false, true})         // of two threads the other one holds it; of more it is not known
                for (const model::WaitedFor& waited : processes[process].waited_for) {
                    if (waited.relation != model::WaitedFor::Relation::work || waited.object == 0 ||
                        kind_of(paths, process, waited) != WaitKind::lock)
                        continue;
                    if (!adds)
                        users[waited.object].insert({waited.thread, waited.peer_thread});
                    else if (users[waited.object].size() == 2)
                        add(waited);
                }
        }
    }
    const double followed_ns = followed_wall_ns(paths.run());
    return looks >= kLeastLooks && reported_ns >= kLeastWallShare * followed_ns && followed_ns > 0;
}

} // namespace plumb
