#include "record/watch/threads/wait_chain.h"

#include <algorithm>
#include <iterator>

namespace plumb::record {

using State = ThreadMoment::State;

namespace {

// Many threads that all wait for many others: each further step would divide shares that are too small to count.
constexpr size_t kMostSteps = 512;

} // namespace

bool may_idle(ThreadMoment::State state, bool of_file) {
    switch (state) {
    case State::for_work:
    case State::for_peer:
    case State::for_input:
    case State::unknown:
        return true;
    case State::for_device:
        return !of_file;
    case State::runs:
    case State::for_thread:
    case State::for_end:
    case State::for_child:
        break;
    }
    return false;
}

WaitChain::WaitChain(std::span<const ThreadMoment> threads, const Holders* holders)
    : threads_(threads), holders_(holders), on_the_way_(threads.size()) {
    for (size_t index = 0; index < threads.size(); ++index) {
        const ThreadMoment& thread = threads[index];
        by_tid_[thread.tid] = index;
        const bool at_lock = thread.state == State::for_thread || (thread.state == State::for_work && thread.at_lock);
        if (!thread.idles && (thread.state == State::for_child || thread.state == State::for_peer))
            outside_[thread.pid].push_back(index);
        if (thread.idles || (thread.state != State::runs && thread.state != State::for_device && !at_lock))
            continue;
        auto& by_pid = thread.state == State::runs ? running_ : thread.state == State::for_device ? on_device_ : at_locks_;
        by_pid[thread.pid].push_back(index);
        by_pid[0].push_back(index);
    }
}

void WaitChain::follow(uint32_t tid) {
    ends_.clear();
    links_.clear();
    edges_.clear();
    steps_ = 0;
    if (const auto found = by_tid_.find(tid); found != by_tid_.end())
        visit(found->second, 1);
}

bool WaitChain::is_alone(size_t thread) const {
    for (size_t index = 0; index < threads_.size(); ++index)
        if (index != thread && (threads_[index].state == State::runs ||
                                (threads_[index].state == State::for_device && !threads_[index].idles)))
            return false;
    return true;
}

bool WaitChain::is_quiet(size_t thread) const {
    for (size_t index = 0; index < threads_.size(); ++index) {
        const ThreadMoment& other = threads_[index];
        const bool only_sleeps = other.idles || (other.sleeps && !other.at_set_time);
        if (index != thread && (other.state == State::runs || (other.state == State::for_device && !only_sleeps)))
            return false;
    }
    return true;
}

void WaitChain::visit(size_t thread, double share) {
    const ThreadMoment& moment = threads_[thread];
    if (++steps_ > kMostSteps || on_the_way_[thread]) {
        ends_.push_back({thread, share});
        return;
    }
    const std::vector<size_t>* const holders = holders_of(thread);
    if (moment.state != State::runs && moment.ran > 0 && !holders) {
        ends_.push_back({thread, share * moment.ran, true});
        share *= 1 - moment.ran;
    }
    on_the_way_[thread] = true;
    const std::vector<size_t> awaited = followed_from(thread);
    const bool goes_on = moment.state == State::runs || moment.state == State::for_device;
    if (moment.state == State::for_thread && !awaited.empty())
        links_.push_back({thread, share});
    if (goes_on && holders)
        for (const size_t holder : *holders)
            visit(holder, share / static_cast<double>(holders->size()));
    else if (awaited.empty())
        ends_.push_back({thread, share});
    for (const size_t next : awaited) {
        const double part = share / static_cast<double>(awaited.size());
        edges_.push_back({thread, next, part});
        visit(next, part);
    }
    on_the_way_[thread] = false;
}

const std::vector<size_t>* WaitChain::holders_of(size_t thread) const {
    if (!holders_)
        return nullptr;
    const auto found = holders_->find(thread);
    return found == holders_->end() ? nullptr : &found->second;
}

std::vector<size_t> WaitChain::awaited_by(size_t thread) const {
    const ThreadMoment& moment = threads_[thread];
    switch (moment.state) {
    case State::for_thread:
    case State::for_end:
        return thread_of(moment);
    case State::for_child:
        return children_of(moment);
    case State::for_peer:
        return peers_of(moment);
    case State::for_work:
    case State::for_input:
        return bringers_of(moment);
    case State::runs:
    case State::for_device:
    case State::unknown:
        break;
    }
    return {};
}

// Where it is not known who brings what a thread waits for, it may be one that itself waits for a lock, as well as one that runs:
// four threads of a pool that hold one lock in turn work four times as long as without it, whoever waits for their results.
std::vector<size_t> WaitChain::followed_from(size_t thread) const {
    const ThreadMoment& moment = threads_[thread];
    std::vector<size_t> found = awaited_by(thread);
    if ((moment.state != State::for_work && moment.state != State::for_input) || moment.at_lock)
        return found;
    if (const auto at_locks = at_locks_.find(moment.state == State::for_work ? moment.pid : 0); at_locks != at_locks_.end())
        found.insert(found.end(), at_locks->second.begin(), at_locks->second.end());
    return found;
}

std::vector<size_t> WaitChain::thread_of(const ThreadMoment& waiting) const {
    const auto found = by_tid_.find(waiting.waits_for);
    return found == by_tid_.end() ? std::vector<size_t>{} : std::vector<size_t>{found->second};
}

// Those of its threads that run, or wait for a device; if there are none, its first thread, which may wait for others itself.
std::vector<size_t> WaitChain::peers_of(const ThreadMoment& waiting) const {
    std::vector<size_t> found;
    for (const State state : {State::runs, State::for_device}) {
        for (const uint32_t pid : waiting.peers)
            if (pid != 0)
                std::ranges::copy(those(state, pid), std::back_inserter(found));
        if (!found.empty())
            return found;
    }
    for (const uint32_t pid : waiting.peers)
        if (const auto first = by_tid_.find(pid); pid != 0 && first != by_tid_.end())
            found.push_back(first->second);
    return found;
}

std::vector<size_t> WaitChain::those(State state, uint32_t pid) const {
    const auto& by_pid = state == State::runs ? running_ : on_device_;
    const auto found = by_pid.find(pid);
    return found == by_pid.end() ? std::vector<size_t>{} : found->second;
}

// Their first threads: a process lasts as long as those.
std::vector<size_t> WaitChain::children_of(const ThreadMoment& parent) const {
    std::vector<size_t> children;
    for (size_t index = 0; index < threads_.size(); ++index) {
        const ThreadMoment& thread = threads_[index];
        if (thread.tid == thread.pid && thread.parent_pid == parent.pid &&
            (parent.waits_for == 0 || parent.waits_for == thread.pid))
            children.push_back(index);
    }
    return children;
}

std::vector<size_t> WaitChain::bringers_of(const ThreadMoment& waiting) const {
    const uint32_t pid = waiting.state == State::for_work ? waiting.pid : 0;
    std::vector<size_t> found = those(State::runs, pid);
    if (found.empty())
        found = those(State::for_device, pid);
    if (const auto outside = outside_.find(pid); found.empty() && waiting.state == State::for_work && outside != outside_.end())
        found = outside->second;
    return found;
}

} // namespace plumb::record
