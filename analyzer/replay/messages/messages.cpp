#include "replay/messages/messages.h"

#include "replay/messages/wait_kinds.h"

#include <algorithm>
#include <tuple>

namespace plumb::replay {

namespace {

// A non-blocking send whose request completes in one call with others may have been complete long before that call: only
// from this size on it is taken to need its receiver.
constexpr uint64_t kSurelyRendezvous_bytes = 1 << 18;

uint64_t mixed(uint64_t number) { // the finaliser of splitmix64
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return number ^ number >> 31;
}

uint64_t channel_hash(uint32_t comm, uint32_t sender, uint32_t receiver, int32_t tag) {
    return mixed(mixed(static_cast<uint64_t>(sender) << 32 | receiver) +
                 (static_cast<uint64_t>(comm) << 32 | static_cast<uint32_t>(tag)));
}

// Of the waits that began at the same moment in the same rank the one that ended last: the others were over by then.
void keep_last_of_each(std::vector<LateSender>& waits) {
    std::ranges::sort(waits, [](const LateSender& left, const LateSender& right) {
        return std::tie(left.receiver, left.begin, right.end, left.sender, left.wait_site) <
               std::tie(right.receiver, right.begin, left.end, right.sender, right.wait_site);
    });
    const auto same = [](const LateSender& left, const LateSender& right) {
        return left.receiver == right.receiver && left.begin == right.begin;
    };
    waits.erase(std::unique(waits.begin(), waits.end(), same), waits.end());
}

} // namespace

uint64_t recorded_ends(const model::Run& run, const Job& job) {
    uint64_t ends = 0;
    for (const Rank& rank : job.ranks) {
        const model::MpiProcess& mpi = *run.processes[rank.process].mpi;
        ends += mpi.messages / mpi.message_stride;
    }
    return ends;
}

std::pair<size_t, size_t> MatchedMessages::late_senders_of(uint32_t row) const {
    // Not equal_range of std::ranges: clang 14 cannot compile libstdc++'s subrange.
    const auto first = std::ranges::lower_bound(late_senders, row, {}, &LateSender::receiver);
    const auto behind = std::ranges::upper_bound(late_senders, row, {}, &LateSender::receiver);
    return {static_cast<size_t>(first - late_senders.begin()), static_cast<size_t>(behind - late_senders.begin())};
}

std::span<const LateReceiver> MatchedMessages::late_receivers_of(uint32_t sender) const {
    const auto first = std::ranges::lower_bound(late_receivers, sender, {}, &LateReceiver::sender);
    const auto behind = std::ranges::upper_bound(late_receivers, sender, {}, &LateReceiver::sender);
    return std::span(late_receivers).subspan(static_cast<size_t>(first - late_receivers.begin()),
                                             static_cast<size_t>(behind - first));
}

std::span<const PeerWait> MatchedMessages::waits_of(uint32_t waiter) const {
    const auto first = std::ranges::lower_bound(waits, waiter, {}, &PeerWait::waiter);
    const auto behind = std::ranges::upper_bound(waits, waiter, {}, &PeerWait::waiter);
    return std::span(waits).subspan(static_cast<size_t>(first - waits.begin()), static_cast<size_t>(behind - first));
}

void MatchedMessages::join_waits() {
    waits.clear();
    for (const LateSender& late : late_senders)
        waits.push_back({late.receiver, late.sender, late.wait_site, late.begin, late.end, late.weight});
    for (const LateReceiver& late : late_receivers)
        waits.push_back({late.sender, late.receiver, late.wait_site, late.begin, late.end, weight});
    std::ranges::sort(waits, [](const PeerWait& left, const PeerWait& right) {
        return std::tie(left.waiter, left.begin, right.end, left.awaited, left.wait_site) <
               std::tie(right.waiter, right.begin, left.end, right.awaited, right.wait_site);
    });
    const auto same = [](const PeerWait& left, const PeerWait& right) {
        return left.waiter == right.waiter && left.begin == right.begin;
    };
    waits.erase(std::unique(waits.begin(), waits.end(), same), waits.end());
}

MessageEnds::MessageEnds(const Job& job, uint64_t recorded_ends, size_t most)
    : job_(&job), one_in_(1 + recorded_ends / std::max<size_t>(1, most)) {}

void MessageEnds::take(uint32_t row, const Message& event) {
    if (!event.membership || event.sequence % job_->message_stride != 0)
        return;
    const Rank* peer = job_->find(event.peer);
    if (!peer) {
        unmatched_++;
        return;
    }
    const bool sent = (event.flags & trace::kMpiMessageSent) != 0;
    const uint32_t other = job_->row_of(*peer);
    const uint32_t sender = sent ? row : other, receiver = sent ? other : row;
    if (one_in_ > 1 && channel_hash(event.membership->comm, sender, receiver, event.tag) % one_in_ != 0)
        return;
    ends_.push_back({.comm = event.membership->comm,
                     .sender = sender,
                     .receiver = receiver,
                     .tag = event.tag,
                     .sequence = event.sequence,
                     .begin = event.begin,
                     .wait = event.wait,
                     .end = event.end,
                     .bytes = event.bytes,
                     .wait_site = event.wait_site,
                     .flags = event.flags,
                     .receives_too = (event.kind & trace::kMpiReceive) != 0});
}

void MessageEnds::merge(MessageEnds&& other) {
    ends_.insert(ends_.end(), other.ends_.begin(), other.ends_.end());
    other.ends_ = {};
    unmatched_ += other.unmatched_;
}

bool MessageEnds::fits(const Job& job) const {
    return one_in_ > 0 && std::ranges::all_of(ends_, [&](const End& end) {
        return end.comm < job.comms.size() && end.sender < job.ranks.size() && end.receiver < job.ranks.size();
    });
}

bool MessageEnds::same_message(const End& left, const End& right) {
    return left.comm == right.comm && left.sender == right.sender && left.receiver == right.receiver &&
           left.tag == right.tag && left.sequence == right.sequence;
}

// The rest of the order is for damaged files only, where one message may have several ends of a kind.
bool MessageEnds::in_order(const End& left, const End& right) {
    const bool left_received = !left.sent(), right_received = !right.sent();
    return std::tie(left.comm, left.sender, left.receiver, left.tag, left.sequence, left_received, left.begin, left.end) <
           std::tie(right.comm, right.sender, right.receiver, right.tag, right.sequence, right_received, right.begin, right.end);
}

void MessageEnds::lay_side_by_side(const End& send, const End& receive, MatchedMessages& matched) const {
    matched.matched++;
    matched.completed[{receive.receiver, receive.wait_site}]++;
    if (send.begin > receive.wait) {
        const Nanoseconds end = std::min(send.begin, receive.end);
        if (end > receive.wait)
            matched.late_senders.push_back({.receiver = receive.receiver,
                                            .sender = receive.sender,
                                            .wait_site = receive.wait_site,
                                            .begin = receive.wait,
                                            .end = end,
                                            .transfer = receive.end - send.begin,
                                            .bytes = receive.bytes});
    }
    // A call that receives as well may have been done with sending long before it returned.
    const bool needs_receiver = (send.flags & trace::kMpiMessageSynchronous) != 0 ||
                                (send.begin == send.wait && !send.receives_too) || send.bytes >= kSurelyRendezvous_bytes;
    if (needs_receiver && receive.begin > send.wait && send.end >= receive.begin)
        matched.late_receivers.push_back({send.sender, send.receiver, send.wait_site, send.wait, receive.begin});
}

void MatchedMessages::weigh(const model::Run& run, const Job& job) {
    for (LateSender& wait : late_senders) {
        const std::vector<model::MpiSite>& sites = run.processes[job.ranks[wait.receiver].process].mpi->sites;
        const auto kept = completed.find({wait.receiver, wait.wait_site});
        wait.weight = weight;
        if (weight == 1 || kept == completed.end() || wait.wait_site >= sites.size())
            continue;
        const model::MpiSite& site = sites[wait.wait_site];
        const uint64_t waits = site.calls > site.found_nothing ? site.calls - site.found_nothing : 1;
        wait.weight = std::clamp<uint64_t>((waits + kept->second / 2) / kept->second, 1, weight);
    }
    join_waits();
}

MatchedMessages MessageEnds::match() && {
    MatchedMessages matched;
    matched.messages_in_burst = messages_in_burst();
    std::ranges::sort(ends_, in_order);
    matched.weight = one_in_ * job_->message_stride;
    WaitKinds kinds(*job_, matched.weight > 1);
    matched.unmatched = unmatched_;
    for (size_t i = 0; i < ends_.size(); ++i) {
        if (i + 1 < ends_.size() && same_message(ends_[i], ends_[i + 1]) && ends_[i].sent() && !ends_[i + 1].sent()) {
            const End& receive = ends_[i + 1];
            lay_side_by_side(ends_[i], receive, matched);
            kinds.take(receive.receiver, receive.sender, receive.wait, receive.wait_site);
            ++i;
        } else {
            matched.unmatched++;
        }
    }
    ends_ = std::vector<End>(); // "= {}" would keep the memory
    keep_last_of_each(matched.late_senders);
    kinds.settle();
    for (LateSender& wait : matched.late_senders)
        wait.is_mixed = kinds.are_mixed(wait.receiver, wait.begin, wait.wait_site);
    std::ranges::sort(matched.late_receivers, [](const LateReceiver& left, const LateReceiver& right) {
        return std::tie(left.sender, left.begin, left.end, left.receiver) <
               std::tie(right.sender, right.begin, right.end, right.receiver);
    });
    matched.join_waits();
    return matched;
}

} // namespace plumb::replay
