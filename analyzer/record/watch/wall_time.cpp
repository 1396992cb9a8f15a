#include "record/watch/wall_time.h"

namespace plumb::record {

void WallTime::follow(uint64_t now_ns, const std::vector<LookedAt>& threads, const RecordOf& record_of) {
    const auto elapsed_ns = static_cast<double>(now_ns - followed_ns_);
    followed_ns_ = now_ns;
    moments_.clear();
    for (const LookedAt& thread : threads)
        moments_.push_back(thread.moment);
    WaitChain chain(moments_);
    chain.follow(first_pid_);
    for (const WaitChain::Share& end : chain.ends()) {
        const LookedAt& thread = threads[end.thread];
        const auto part_ns = static_cast<uint64_t>(elapsed_ns * end.share);
        if (thread.site) {
            update(thread.site->wall_ns, thread.site->wall_ns + part_ns);
            if (chain.is_alone(end.thread))
                update(thread.site->alone_ns, thread.site->alone_ns + part_ns);
        } else if (thread.moment.state == ThreadMoment::State::runs) {
            if (trace::ThreadWall* wall = record_of(thread.moment.tid, thread.moment.pid)) {
                update(wall->looks, wall->looks + 1);
                update(wall->running_ns, wall->running_ns + part_ns);
                update(wall->last_ns, now_ns);
            }
        }
    }
    for (const WaitChain::Share& link : chain.links())
        if (trace::LockHolder* holder = threads[link.thread].holder)
            update(holder->wall_ns, holder->wall_ns + static_cast<uint64_t>(elapsed_ns * link.share));
}

} // namespace plumb::record
