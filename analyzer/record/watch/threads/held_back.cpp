#include "record/watch/threads/held_back.h"

#include "record/watch/threads/awaited_threads.h"

#include <algorithm>

namespace plumb::record {

namespace {

using State = ThreadMoment::State;

constexpr double kLeastWaiting = 0.25; // of its life: less is chance, or two of equal speed
constexpr double kGoesOn = 0.75;       // of the waits

// For what another one makes, or takes: at a queue, or at a pipe.
bool waits_for_work(const ThreadMoment& thread) {
    return (thread.state == State::for_work || thread.state == State::for_peer) && !thread.at_lock;
}

// At a lock a thread stands for a moment in the middle of its work.
bool is_at_lock(const ThreadMoment& thread) { return thread.state == State::for_thread || thread.at_lock; }

bool goes_on(const ThreadMoment& thread) {
    return !thread.idles && (thread.state == State::runs || (thread.state == State::for_device && !thread.sleeps));
}

} // namespace

bool HeldBack::holds_back(uint32_t other, uint32_t waiting) const {
    const Waits& waits = waits_.at(waiting);
    const auto found = waits.others.find(other);
    return found != waits.others.end() &&
           static_cast<double>(waits.waiting) >= kLeastWaiting * static_cast<double>(waits.looks) &&
           static_cast<double>(found->second) >= kGoesOn * static_cast<double>(waits.waiting);
}

HeldBack::HeldBack(const std::vector<std::vector<ThreadMoment>>& looks) : holders_(looks.size()) {
    std::vector<std::vector<std::pair<size_t, std::vector<size_t>>>> awaited(looks.size()); // of each look: who waits for whom
    for (size_t look = 0; look < looks.size(); ++look) {
        const WaitChain chain(looks[look]);
        for (size_t index = 0; index < looks[look].size(); ++index) {
            const ThreadMoment& thread = looks[look][index];
            Waits& waits = waits_[thread.tid];
            ++waits.looks;
            if (!waits_for_work(thread))
                continue;
            ++waits.waiting;
            std::vector<size_t> others = chain.awaited_by(index);
            std::erase_if(others, [&](size_t other) { return !goes_on(looks[look][other]); });
            if (others.empty() || others.size() > kMostAwaited)
                continue;
            for (const size_t other : others)
                ++waits.others[looks[look][other].tid];
            awaited[look].emplace_back(index, std::move(others));
        }
    }
    std::unordered_map<uint32_t, std::vector<uint32_t>> held; // tids, at the look at hand
    for (size_t look = looks.size(); look-- > 0;) {
        const std::vector<ThreadMoment>& threads = looks[look];
        std::unordered_map<uint32_t, size_t> by_tid;
        for (size_t index = 0; index < threads.size(); ++index)
            by_tid[threads[index].tid] = index;
        for (auto& [tid, others] : held)
            std::erase_if(others, [&](uint32_t other) {
                const auto found = by_tid.find(other);
                return found == by_tid.end() || (!goes_on(threads[found->second]) && !is_at_lock(threads[found->second]));
            });
        std::erase_if(held, [&](const auto& entry) { return entry.second.empty() || !by_tid.contains(entry.first); });
        for (const auto& [index, others] : awaited[look]) {
            std::vector<uint32_t> tids;
            for (const size_t other : others)
                if (holds_back(threads[other].tid, threads[index].tid))
                    tids.push_back(threads[other].tid);
            if (!tids.empty())
                held[threads[index].tid] = std::move(tids);
        }
        for (const auto& [tid, others] : held) {
            std::vector<size_t> indexes;
            for (const uint32_t other : others) {
                const auto back = held.find(other); // two that hold each other back are equal
                if (goes_on(threads[by_tid.at(other)]) &&
                    (back == held.end() || std::ranges::find(back->second, tid) == back->second.end()))
                    indexes.push_back(by_tid.at(other));
            }
            if (!indexes.empty())
                holders_[look].emplace(by_tid.at(tid), std::move(indexes));
        }
    }
}

} // namespace plumb::record
