// Threads that go on, and are not what the run waits for: those that will have to wait for a slower one anyway.
//
// The fast stage of a pipeline works for a while, and then waits for room in the queue, or for the next item. What it does
// meanwhile could take longer, or shorter, and the run would be as long: it depends on the slow stage all along. So the looks are
// followed from the last one backwards. From a wait for another thread's work back to where that thread began to go on, the
// waiting thread is held back by it.
//
// Who ends such a wait is not known, only who went on meanwhile. Once may be chance. A thread is held back only by threads that
// went on in nearly all of its waits, and only if those take a good part of its life.
#pragma once

#include "record/watch/threads/wait_chain.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::record {

class HeldBack {
  public:
    // `looks`: the threads of each, in the order of time.
    explicit HeldBack(const std::vector<std::vector<ThreadMoment>>& looks);

    // Of one look: indexes of threads, with those of the threads that hold them back.
    using Holders = WaitChain::Holders;
    const Holders& at(size_t look) const { return holders_[look]; }

  private:
    struct Waits {
        size_t looks = 0, waiting = 0;     // of one thread
        std::map<uint32_t, size_t> others; // by tid: looks of `waiting` in which it went on
    };
    bool holds_back(uint32_t other, uint32_t waiting) const;

    std::unordered_map<uint32_t, Waits> waits_; // by tid
    std::vector<Holders> holders_;
};

} // namespace plumb::record
