#include "record/mpi/table_lock.h"

#include "platform/system_call.h"
#include "record/trace_writer.h"

namespace plumb::shim::mpi {
namespace {
constexpr uint32_t kSpins = 400;
constexpr uint64_t kLongestWaitNs = 250'000'000; // a holder that was preempted is back by then, also on a busy CPU
}

bool TableLock::wait() {
    const auto try_again = [&] {
        return held_.load(std::memory_order_relaxed) == 0 && held_.exchange(1, std::memory_order_acquire) == 0;
    };
    bool taken = false;
    for (uint32_t i = 0; i < kSpins && !taken; ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        taken = try_again();
    }
    if (!taken && !impatient_.load(std::memory_order_relaxed))
        for (const uint64_t end_ns = now_ns() + kLongestWaitNs; !taken && now_ns() < end_ns; taken = try_again())
            system_call(SYS_sched_yield);
    impatient_.store(!taken, std::memory_order_relaxed);
    if (!taken)
        refused_.fetch_add(1, std::memory_order_relaxed);
    return taken;
}

} // namespace plumb::shim::mpi
