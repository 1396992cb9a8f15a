#include "record/watch/wait_chain.h"

namespace plumb::record {

using State = ThreadMoment::State;

namespace {

// Many threads that all wait for many others: each further step would divide shares that are too small to count.
constexpr size_t kMostSteps = 512;

} // namespace

WaitChain::WaitChain(std::span<const ThreadMoment> threads) : threads_(threads), on_the_way_(threads.size()) {
    for (size_t index = 0; index < threads.size(); ++index)
        by_tid_[threads[index].tid] = index;
}

void WaitChain::follow(uint32_t tid) {
    ends_.clear();
    links_.clear();
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

void WaitChain::visit(size_t thread, double share) {
    const ThreadMoment& moment = threads_[thread];
    if (++steps_ > kMostSteps || on_the_way_[thread]) {
        ends_.push_back({thread, share});
        return;
    }
    on_the_way_[thread] = true;
    switch (moment.state) {
    case State::for_thread:
        if (const auto found = by_tid_.find(moment.waits_for); found != by_tid_.end()) {
            links_.push_back({thread, share});
            visit(found->second, share);
        } else {
            ends_.push_back({thread, share});
        }
        break;
    case State::for_child:
        divide(thread, share, children_of(moment));
        break;
    case State::for_work:
    case State::for_input:
        divide(thread, share, bringers_of(moment));
        break;
    case State::runs:
    case State::for_device:
    case State::unknown:
        ends_.push_back({thread, share});
        break;
    }
    on_the_way_[thread] = false;
}

void WaitChain::divide(size_t waiting, double share, const std::vector<size_t>& among) {
    if (among.empty())
        ends_.push_back({waiting, share});
    for (const size_t thread : among)
        visit(thread, share / static_cast<double>(among.size()));
}

std::vector<size_t> WaitChain::those(State state, uint32_t pid) const {
    std::vector<size_t> found;
    for (size_t index = 0; index < threads_.size(); ++index)
        if (threads_[index].state == state && !threads_[index].idles && (pid == 0 || threads_[index].pid == pid))
            found.push_back(index);
    return found;
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
    return found.empty() ? those(State::for_device, pid) : found;
}

} // namespace plumb::record
