// The lock of the tables that all threads share: communicators, requests, sequences, places of events.
//
// It is held for some tens of nanoseconds, under a Guard, and never while the library or the program runs. A handler of
// the program's may still interrupt its holder, leave by longjmp, or wait for another thread; so nobody waits without
// end: a call that does not get the lock is not recorded, and says so.
#pragma once

#include <atomic>
#include <stdint.h>

namespace plumb::shim::mpi {

// Zeroed memory is a free lock; a forked child finds it so.
class TableLock {
  public:
    bool take() {
        return __builtin_expect(held_.exchange(1, std::memory_order_acquire) == 0, 1) || wait();
    }
    void release() { held_.store(0, std::memory_order_release); }

    uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  private:
    bool wait();

    std::atomic<uint32_t> held_;
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
