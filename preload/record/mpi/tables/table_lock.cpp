#include "record/mpi/tables/table_lock.h"

#include "platform/os/system_call.h"
#include "record/process/trace_writer.h"

#include <linux/membarrier.h>
#include <time.h>

namespace plumb::shim::mpi {
namespace {
constexpr uint32_t kSpins = 400;
constexpr timespec kPause = {0, 50'000};
constexpr uint64_t kLongestWaitNs = 250'000'000; // a holder that was preempted is back by then, also on a busy CPU

bool barrier_on_all_threads(int command) { return system_call(SYS_membarrier, command, 0, 0) == 0; }
}

// Whether the calling thread owns the lock from now on, and has taken it. Without the kernel's barrier it is shared from the
// beginning.
bool TableLock::claim() {
    uint32_t nobody = kNobody;
    if (!sharing_.compare_exchange_strong(nobody, kClaimed))
        return false;
    const bool possible = barrier_on_all_threads(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    if (possible) {
        owner_.store(this_thread, std::memory_order_relaxed);
        owner_inside_.store(1, std::memory_order_relaxed);
    }
    sharing_.store(possible ? kOwned : kShared, std::memory_order_release);
    return possible;
}

// False: it is being claimed, or nothing tells that the owner has seen it.
bool TableLock::share() {
    uint32_t now = sharing_.load(std::memory_order_acquire);
    if (now == kShared)
        return true;
    if (now == kBroken || now == kClaimed || (now == kOwned && !sharing_.compare_exchange_strong(now, kAsked) && now != kAsked))
        return now == kShared;
    if (!barrier_on_all_threads(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        return false;
    uint32_t asked = kAsked; // not if it was broken meanwhile
    return sharing_.compare_exchange_strong(asked, kShared) || asked == kShared;
}

bool TableLock::try_shared() {
    if (!share() || held_.load(std::memory_order_relaxed) != 0 || held_.exchange(1, std::memory_order_acquire) != 0)
        return false;
    holder_.store(this_thread, std::memory_order_relaxed);
    if (owner_inside_.load(std::memory_order_acquire) == 0)
        return true;
    release_shared(); // the owner has it in its own way, for the last time
    return false;
}

bool TableLock::take_shared() {
    return (sharing_.load(std::memory_order_relaxed) == kNobody && claim()) || try_shared() || wait();
}

bool TableLock::wait() {
    bool taken = false;
    if (sharing_.load(std::memory_order_relaxed) == kBroken) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    for (uint32_t i = 0; i < kSpins && !taken; ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        taken = try_shared();
    }
    if (!taken && !impatient_.load(std::memory_order_relaxed))
        for (const uint64_t end_ns = now_ns() + kLongestWaitNs; !taken && now_ns() < end_ns; taken = try_shared())
            system_call(SYS_nanosleep, word(&kPause), 0); // to yield would not let a holder of lower priority run
    impatient_.store(!taken, std::memory_order_relaxed);
    if (!taken)
        refused_.fetch_add(1, std::memory_order_relaxed);
    return taken;
}

} // namespace plumb::shim::mpi
