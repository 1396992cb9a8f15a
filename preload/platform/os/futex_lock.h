// A lock whose waiters sleep in the kernel: a thread of a real-time class that spins, or yields, starves a holder of lower
// priority on the same CPU for ever. Zeroed memory is a free lock. No errno, nothing of the C library; usable between the
// threads of one process and a child of vfork. Not recursive: signal handlers that may want it are blocked by the holder.
#pragma once

#include "platform/os/system_call.h"

#include <atomic>
#include <linux/futex.h>
#include <stdint.h>

namespace plumb::shim {

class FutexLock {
  public:
    void take() {
        uint32_t seen = kFree;
        if (__builtin_expect(state_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire), 1))
            return;
        // From here on it is not known how many wait: the next release wakes one, who assumes that there are others.
        while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree)
            system_call(SYS_futex, word(&state_), FUTEX_WAIT_PRIVATE, kAwaited, 0);
    }
    void release() {
        if (state_.exchange(kFree, std::memory_order_release) == kAwaited)
            system_call(SYS_futex, word(&state_), FUTEX_WAKE_PRIVATE, 1);
    }

    // In a forked child, whose parent's other thread may have held it.
    void forget_holder() { state_.store(kFree, std::memory_order_relaxed); }

  private:
    enum : uint32_t { kFree, kHeld, kAwaited };
    std::atomic<uint32_t> state_;
};

} // namespace plumb::shim
