#include "record/openmp/runtime_clock.h"

#include "platform/elf/loaded_object.h"
#include "platform/os/memory.h"
#include "record/mpi/tables/clock.h"
#include "record/mpi/tables/counters.h"

#include <string.h>

namespace plumb::shim::openmp {
namespace {

constexpr uint64_t kKeepTicks = mpi::kTicksOfTenthSecond / 4;

std::atomic<trace::OmpRuntime*> record{nullptr};
std::atomic<uint32_t> is_being_made{0};
std::atomic<uint64_t> kept_ticks{0}; // when the second moment was set
std::atomic<uint64_t> rate_of_ms{0};

} // namespace

trace::OmpRuntime* runtime_record(const Guard& guard, const void* function) {
    if (record.load(std::memory_order_acquire) || is_being_made.exchange(1))
        return record.load(std::memory_order_acquire);
    trace::OmpRuntime made{};
    const link_map* const library = function ? loaded_object(function) : nullptr;
    const char* const path = library && library->l_name ? library->l_name : "";
    const char* const slash = strrchr(path, '/');
    made.name = write_string(guard, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
    made.flags = mpi::counter_is_clock ? uint32_t{0} : uint32_t{trace::kOmpTicksAreNanoseconds};
    made.first_ns = now_ns();
    made.first_ticks = mpi::ticks();
    kept_ticks.store(made.first_ticks, std::memory_order_relaxed);
    record.store(append(guard, trace::RecordType::OmpRuntime, made), std::memory_order_release);
    return record.load(std::memory_order_relaxed);
}

void forget_runtime() {
    record.store(nullptr, std::memory_order_relaxed);
    is_being_made.store(0, std::memory_order_relaxed);
}

void set_clock() {
    trace::OmpRuntime* const runtime = record.load(std::memory_order_acquire);
    if (!runtime)
        return;
    const uint64_t ns = now_ns(), ticks = mpi::ticks();
    mpi::set(runtime->last_ns, ns);
    mpi::set(runtime->last_ticks, ticks);
    rate_of_ms.store(ticks_of_ns(1'000'000), std::memory_order_relaxed);
}

uint64_t ticks_of_ms() { return rate_of_ms.load(std::memory_order_relaxed); }

void keep_clock(uint64_t now_ticks) {
    uint64_t kept = kept_ticks.load(std::memory_order_relaxed);
    if (now_ticks - kept < kKeepTicks || !kept_ticks.compare_exchange_strong(kept, now_ticks, std::memory_order_relaxed))
        return;
    set_clock();
}

uint64_t ticks_of_ns(uint64_t ns) {
    if (!mpi::counter_is_clock)
        return ns;
    const trace::OmpRuntime* const runtime = record.load(std::memory_order_acquire);
    if (!runtime)
        return 0;
    const uint64_t last_ns = __atomic_load_n(&runtime->last_ns, __ATOMIC_RELAXED);
    const uint64_t last_ticks = __atomic_load_n(&runtime->last_ticks, __ATOMIC_RELAXED);
    constexpr uint64_t kShortestNs = 5'000'000;
    if (last_ns < runtime->first_ns + kShortestNs || last_ticks <= runtime->first_ticks)
        return 0;
    return mpi::scaled(ns, last_ticks - runtime->first_ticks, last_ns - runtime->first_ns);
}

void count_refused() {
    if (trace::OmpRuntime* const runtime = record.load(std::memory_order_acquire))
        __atomic_fetch_add(&runtime->refused, 1, __ATOMIC_RELAXED);
}

void count_unmatched() {
    if (trace::OmpRuntime* const runtime = record.load(std::memory_order_acquire))
        __atomic_fetch_add(&runtime->unmatched, 1, __ATOMIC_RELAXED);
}

} // namespace plumb::shim::openmp
