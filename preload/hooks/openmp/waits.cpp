// What threads wait for inside regions: barriers, criticals, locks.
//
// Criticals and locks that are free must stay as cheap as they are. A lock is tried first: one that is free is taken that way and
// nothing is recorded. A critical cannot be tried: its word is looked at, and only calls that find it taken, or that stand where
// threads waited lately, are timed.
#include "hooks/hooks.h"
#include "hooks/openmp/runtime_functions.h"
#include "hooks/openmp/tool.h"
#include "record/mpi/tables/counters.h"
#include "record/openmp/thread_regions.h"

using namespace plumb;
using namespace plumb::shim;
using namespace plumb::shim::openmp;

namespace {

using mpi::ticks;
using Kind = trace::OmpWaitKind;

constexpr uint32_t kWatchedCalls = 64;
constexpr uint64_t kContendedTicks = 1000; // longer than taking a lock that is free
constexpr uint64_t kSampledOf = 64; // of criticals that look free, one of so many is timed and stands for all of them

std::atomic<uint32_t> unnamed_is_held{0};

// Null: nothing is recorded of this call of `function`.
ThreadRegions* recorded(const void* function) {
    return reports_to_tool(function) ? nullptr : ThreadRegions::of_this_thread();
}

// `frame`: of the hook; `wait`: the call.
template <class Wait>
__attribute__((always_inline)) inline auto barrier(Kind kind, uint64_t pc, uint64_t frame, Wait* wait) {
    ThreadRegions* const regions = recorded(reinterpret_cast<const void*>(wait));
    WaitPlace* const place = regions ? regions->wait_place(kind, pc, 0, trace::OmpSchedule::none, frame) : nullptr;
    struct AtEnd {
        ThreadRegions* regions;
        WaitPlace* place;
        uint64_t frame, begin_ticks;
        ~AtEnd() {
            if (place && ThreadRegions::known() == regions && !regions->may_run_tasks(frame))
                regions->add_wait(*place, ticks() - begin_ticks);
        }
    } const at_end{regions, place, frame, place ? ticks() : 0};
    return wait();
}

// A critical or lock was waited for and is held now. `calls`: how many this one stands for.
void note_wait(ThreadRegions& regions, WaitPlace& place, uint64_t object, uint64_t begin_ticks, uint64_t calls) {
    const uint64_t now = ticks(), waited = now - begin_ticks;
    if (waited > kContendedTicks) { // a rare long wait stands for itself
        regions.add_wait(place, waited);
        place.watched = kWatchedCalls;
    } else {
        regions.add_wait(place, waited > mpi::clock_read_ticks ? waited - mpi::clock_read_ticks : 0, calls);
    }
    regions.held = &place;
    regions.held_object = object;
    regions.held_since_ticks = now;
}

void note_release(uint64_t object) {
    ThreadRegions* const regions = ThreadRegions::known();
    if (!regions || !regions->held || regions->held_object != object)
        return;
    trace::OmpWait& record = *regions->held->record;
    mpi::add_to(record.holds, 1);
    mpi::add_to(record.hold_ticks, ticks() - regions->held_since_ticks);
    regions->held = nullptr;
}

template <class Take>
__attribute__((always_inline)) inline void critical(const void* function, uint64_t object, bool looks_free, uint64_t pc, uint64_t frame, const Take& take) {
    ThreadRegions* const regions = recorded(function);
    WaitPlace* const place = regions ? regions->wait_place(Kind::critical, pc, object, trace::OmpSchedule::none, frame) : nullptr;
    if (!place)
        return take();
    const bool is_sample = looks_free && place->watched == 0;
    if (is_sample && place->record->calls % kSampledOf != 0)
        return take();
    if (place->watched != 0)
        --place->watched;
    const uint64_t begin_ticks = ticks();
    take();
    note_wait(*regions, *place, object, begin_ticks, is_sample ? kSampledOf : 1);
}

// `test` returns 0 where it has not taken the lock.
template <class Take>
void lock(const void* function, void* of_program, int (*test)(void*), uint64_t pc, uint64_t frame, const Take& take) {
    ThreadRegions* const regions = recorded(function);
    if (regions && test && test(of_program) != 0)
        return;
    const uint64_t object = reinterpret_cast<uint64_t>(of_program);
    WaitPlace* const place = regions ? regions->wait_place(Kind::lock, pc, object, trace::OmpSchedule::none, frame) : nullptr;
    if (!place)
        return take();
    const uint64_t begin_ticks = ticks();
    take();
    note_wait(*regions, *place, object, begin_ticks, 1);
}

#define PLUMB_CALLER_PC() reinterpret_cast<uint64_t>(__builtin_return_address(0))
#define PLUMB_FRAME() reinterpret_cast<uint64_t>(__builtin_frame_address(0))
#define PLUMB_BEHIND(result, name, ...) behind<result(__VA_ARGS__)>(Name::name, __builtin_return_address(0))

} // namespace

extern "C" {

#define PLUMB_BARRIER(name, kind)                                                                            \
    void hook_##name() {                                                                                     \
        if (auto* const wait = PLUMB_BEHIND(void, name))                                                     \
            barrier(kind, PLUMB_CALLER_PC(), PLUMB_FRAME(), wait);                                           \
    }
#define PLUMB_CANCELLABLE_BARRIER(name, kind)                                                                \
    bool hook_##name() {                                                                                     \
        auto* const wait = PLUMB_BEHIND(bool, name);                                                         \
        return wait && barrier(kind, PLUMB_CALLER_PC(), PLUMB_FRAME(), wait);                                \
    }
PLUMB_BARRIER(GOMP_barrier, Kind::barrier)
PLUMB_CANCELLABLE_BARRIER(GOMP_barrier_cancel, Kind::barrier)
PLUMB_BARRIER(GOMP_loop_end, Kind::loop_end)
PLUMB_CANCELLABLE_BARRIER(GOMP_loop_end_cancel, Kind::loop_end)
PLUMB_BARRIER(GOMP_sections_end, Kind::loop_end)
PLUMB_CANCELLABLE_BARRIER(GOMP_sections_end_cancel, Kind::loop_end)
PLUMB_BARRIER(GOMP_ordered_start, Kind::ordered)

void hook_GOMP_critical_start() {
    auto* const take = PLUMB_BEHIND(void, GOMP_critical_start);
    if (!take)
        return;
    critical(reinterpret_cast<const void*>(take), 0, unnamed_is_held.load(std::memory_order_relaxed) == 0, PLUMB_CALLER_PC(), PLUMB_FRAME(), take);
    unnamed_is_held.store(1, std::memory_order_relaxed);
}

void hook_GOMP_critical_end() {
    note_release(0);
    unnamed_is_held.store(0, std::memory_order_relaxed);
    if (auto* const release = PLUMB_BEHIND(void, GOMP_critical_end))
        release();
}

// GCC's runtime keeps the lock itself in the word that the name stands for, and 0 in it while it is free.
void hook_GOMP_critical_name_start(void** name) {
    if (auto* const take = PLUMB_BEHIND(void, GOMP_critical_name_start, void**))
        critical(reinterpret_cast<const void*>(take), reinterpret_cast<uint64_t>(name), name && __atomic_load_n(reinterpret_cast<int*>(name), __ATOMIC_RELAXED) == 0,
                 PLUMB_CALLER_PC(), PLUMB_FRAME(), [&] { take(name); });
}

void hook_GOMP_critical_name_end(void** name) {
    note_release(reinterpret_cast<uint64_t>(name));
    if (auto* const release = PLUMB_BEHIND(void, GOMP_critical_name_end, void**))
        release(name);
}

#define PLUMB_SET_LOCK(name, test)                                                                           \
    void hook_##name(void* of_program) {                                                                     \
        if (auto* const take = PLUMB_BEHIND(void, name, void*))                                              \
            lock(reinterpret_cast<const void*>(take), of_program, PLUMB_BEHIND(int, test, void*), PLUMB_CALLER_PC(), PLUMB_FRAME(), [&] { take(of_program); }); \
    }
PLUMB_SET_LOCK(omp_set_lock, omp_test_lock)
PLUMB_SET_LOCK(omp_set_lock_, omp_test_lock_)
PLUMB_SET_LOCK(omp_set_nest_lock, omp_test_nest_lock)
PLUMB_SET_LOCK(omp_set_nest_lock_, omp_test_nest_lock_)

#define PLUMB_UNSET_LOCK(name)                                                                               \
    void hook_##name(void* of_program) {                                                                     \
        note_release(reinterpret_cast<uint64_t>(of_program));                                                \
        if (auto* const release = PLUMB_BEHIND(void, name, void*))                                           \
            release(of_program);                                                                             \
    }
PLUMB_UNSET_LOCK(omp_unset_lock)
PLUMB_UNSET_LOCK(omp_unset_lock_)

#define PLUMB_TASK(name)                                                                                     \
    void hook_##name(PLUMB_TASK_PARAMETERS) {                                                                \
        if (ThreadRegions* const regions = ThreadRegions::of_this_thread())                                  \
            regions->note_task(PLUMB_FRAME());                                                               \
        if (auto* const create = PLUMB_BEHIND(void, name, PLUMB_TASK_PARAMETERS))                            \
            create(a, b, c, d, e, f, g, h, i, j, k);                                                         \
    }
PLUMB_TASK(GOMP_task)
PLUMB_TASK(GOMP_taskloop)
PLUMB_TASK(GOMP_taskloop_ull)
}
