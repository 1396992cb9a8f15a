// The lock of the tables that all threads share: communicators, requests, sequences, places of events.
//
// It is held for some tens of nanoseconds, under a Guard, and never while the library or the program runs. A handler of
// the program's may still interrupt its holder, leave by longjmp, or wait for another thread; so nobody waits without
// end: a call that does not get the lock is not recorded, and says so. After a jump out of a holder the tables may be half
// changed: from then on nobody gets it.
//
// In most programs one thread makes all calls. The first to take the lock owns it and takes it by plain stores, without the
// locked instruction (6 to 15 ns). The first other thread makes it shared for good: it says so, has the kernel run a
// memory barrier on all threads of the process (membarrier), so that the owner either is seen inside or sees that the lock is
// shared, and from then on all take it by exchange.
#pragma once

#include "record/process/thread_state.h"

#include <atomic>
#include <stdint.h>

namespace plumb::shim::mpi {

// Zeroed memory is a free lock; a forked child finds it so.
class TableLock {
  public:
    bool take() {
        if (__builtin_expect(owner_.load(std::memory_order_relaxed) == this_thread, 1)) {
            owner_inside_.store(1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst); // the barrier is the other side's
            if (__builtin_expect(sharing_.load(std::memory_order_relaxed) == kOwned, 1))
                return true;
            owner_inside_.store(0, std::memory_order_release);
        }
        return take_shared();
    }
    void release() {
        if (owner_.load(std::memory_order_relaxed) == this_thread && owner_inside_.load(std::memory_order_relaxed))
            owner_inside_.store(0, std::memory_order_release);
        else
            release_shared();
    }

    // The thread holds it, if at all, no longer, and has left the tables half changed: nobody gets the lock any more.
    void left_by(const ThreadState* thread) {
        if (holder_.load(std::memory_order_relaxed) == thread ||
            (owner_.load(std::memory_order_relaxed) == thread && owner_inside_.load(std::memory_order_relaxed)))
            sharing_.store(kBroken, std::memory_order_release);
    }

    uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  private:
    enum Sharing : uint32_t {
        kNobody,  // has taken it yet
        kClaimed, // by a thread that will own it in a moment
        kOwned,
        kAsked,   // to be shared, while the owner may not know it
        kShared,
        kBroken,  // the tables are not to be touched any more
    };

    bool take_shared();
    bool claim();
    bool share();
    bool try_shared();
    bool wait();
    void release_shared() {
        holder_.store(nullptr, std::memory_order_relaxed);
        held_.store(0, std::memory_order_release);
    }

    std::atomic<const ThreadState*> owner_; // set once; a later thread of the same state takes its place
    std::atomic<uint32_t> owner_inside_;
    std::atomic<uint32_t> sharing_;
    std::atomic<uint32_t> held_;      // by exchange
    std::atomic<const ThreadState*> holder_; // of a lock that is held so
    std::atomic<uint32_t> impatient_; // the last one who waited gave up
    std::atomic<uint64_t> refused_;
};

class Locked {
  public:
    explicit Locked(TableLock& lock) : lock_(lock), holds_(lock.take()) {}
    ~Locked() {
        if (holds_)
            lock_.release();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    explicit operator bool() const { return holds_; }

  private:
    TableLock& lock_;
    const bool holds_;
};

} // namespace plumb::shim::mpi
