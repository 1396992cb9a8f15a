#include "replay/messages/wait_kinds.h"

#include <algorithm>
#include <utility>

namespace plumb::replay {

WaitKinds::WaitKinds(const Job& job, bool is_thinned)
    : job_(&job), is_thinned_(is_thinned),
      has_hosts_(std::ranges::any_of(job.ranks, [&](const Rank& rank) { return rank.host != job.ranks.front().host; })) {}

void WaitKinds::take(uint32_t receiver, uint32_t sender, Nanoseconds wait, uint32_t wait_site) {
    if (!has_hosts_)
        return;
    const bool is_own = job_->ranks[receiver].host == job_->ranks[sender].host;
    waits_.push_back({receiver, which(wait, wait_site), is_own, !is_own});
}

void WaitKinds::settle() {
    std::ranges::sort(waits_, {}, [](const Wait& wait) { return std::pair(wait.receiver, wait.which); });
    size_t kept = 0;
    for (const Wait& wait : waits_) {
        if (kept > 0 && waits_[kept - 1].receiver == wait.receiver && waits_[kept - 1].which == wait.which) {
            waits_[kept - 1].has_own_host |= wait.has_own_host;
            waits_[kept - 1].has_others |= wait.has_others;
        } else {
            waits_[kept++] = wait;
        }
    }
    waits_.resize(kept);
}

bool WaitKinds::are_mixed(uint32_t receiver, Nanoseconds wait, uint32_t wait_site) const {
    const auto found = std::ranges::lower_bound(waits_, std::pair(receiver, which(wait, wait_site)), {},
                                                [](const Wait& each) { return std::pair(each.receiver, each.which); });
    return found != waits_.end() && found->receiver == receiver && found->which == which(wait, wait_site) && found->has_own_host &&
           found->has_others;
}

} // namespace plumb::replay
