// The runtime asks for ompt_start_tool when it starts. A tool that the user brings comes first: one that is linked or preloaded
// behind this library, one that OMP_TOOL_LIBRARIES names, and the one that keeps ThreadSanitizer informed.
//
// What is known to be difficult in these runtimes: a worker's events of the end of a region come when the next one begins (its end
// is therefore taken where it arrives at the barrier), and its return addresses are null (those of the region are used).
#include "hooks/openmp/tool.h"

#include "hooks/hooks.h"
#include "hooks/openmp/runtime_functions.h"
#include "hooks/openmp/tools_interface.h"
#include "platform/elf/loaded_object.h"
#include "record/openmp/openmp_collector.h"
#include "record/openmp/thread_regions.h"
#include "record/process/process.h"

#include <errno.h>
#include <stdlib.h>

using namespace plumb;
using namespace plumb::shim;
using namespace plumb::shim::openmp;
using namespace plumb::shim::openmp::ompt;

namespace {

constinit std::atomic<const link_map*> runtime{nullptr}; // that reports to this tool
constexpr uint64_t kNeverStale = UINT64_MAX;             // no frame of the program's stands around these events
constexpr uint32_t kToolContendedTicks = 1000, kToolWatchedCalls = 256, kTimedEach = 64;

void parallel_begin(Data*, const void*, Data* parallel, unsigned threads, int, const void* pc) {
    parallel->pointer = nullptr;
    ThreadRegions* const regions = ThreadRegions::of_this_thread();
    if (!regions || !pc)
        return;
    const RegionKind kind{reinterpret_cast<uint64_t>(pc), 0, trace::OmpSchedule::none, 0,
                          reinterpret_cast<const void*>(runtime.load(std::memory_order_relaxed)->l_ld)};
    Invitation invitation{};
    if (regions->start_region(kind, PLUMB_CALLER_FRAME(), threads, invitation)) {
        invitation.team->begin_ticks = mpi::ticks();
        parallel->pointer = invitation.team;
    }
}

void parallel_end(Data* parallel, Data*, int, const void*) {
    ThreadRegions* const regions = ThreadRegions::known();
    auto* const team = static_cast<Team*>(parallel->pointer);
    if (team && regions && regions->owns(*team))
        regions->end_region(*team, team->begin_ticks, mpi::ticks());
}

void implicit_task(int endpoint, Data* parallel, Data* task, unsigned threads, unsigned number, int flags) {
    if (flags & kTaskInitial)
        return;
    if (endpoint == kBegin) {
        task->value = 0;
        auto* const team = parallel ? static_cast<Team*>(parallel->pointer) : nullptr;
        ThreadRegions* const regions = team ? ThreadRegions::of_this_thread() : nullptr;
        if (regions)
            task->value = regions->enter_part(team->invitation, kNeverStale, number, threads); // how deep it is in regions
    } else if (ThreadRegions* const regions = ThreadRegions::known(); regions && task && task->value) {
        regions->leave_part(static_cast<uint32_t>(task->value));
        task->value = 0;
    }
}

void sync_region(int kind, int endpoint, Data* parallel, Data* task, const void* pc) {
    ThreadRegions* const regions = ThreadRegions::known();
    if (!regions || !task || !task->value || kind == kTaskWait || kind > kBarrierOfParallel)
        return;
    const auto* const team = parallel ? static_cast<const Team*>(parallel->pointer) : nullptr;
    const auto call = reinterpret_cast<uint64_t>(pc);
    const bool joins = kind == kBarrierOfParallel || (kind <= kBarrierImplicit && (!pc || (team && call == team->call_site)));
    if (joins) {
        if (endpoint == kBegin) {
            regions->leave_part(static_cast<uint32_t>(task->value));
            task->value = 0;
        }
    } else if (endpoint == kBegin) {
        regions->waits_since_ticks = mpi::ticks();
    } else if (regions->waits_since_ticks != 0) {
        const auto its_kind = kind == kBarrierOfWorksharing ? trace::OmpWaitKind::loop_end : trace::OmpWaitKind::barrier;
        WaitPlace* const place = regions->wait_place(its_kind, call, 0, trace::OmpSchedule::none, 0);
        if (place && !regions->may_run_tasks(0))
            regions->add_wait(*place, mpi::ticks() - regions->waits_since_ticks);
        regions->waits_since_ticks = 0;
    }
}

bool kind_of(int mutex, trace::OmpWaitKind& kind) {
    kind = mutex == kCritical ? trace::OmpWaitKind::critical
           : mutex == kOrdered ? trace::OmpWaitKind::ordered : trace::OmpWaitKind::lock;
    return mutex == kLock || mutex == kNestLock || mutex == kCritical || mutex == kOrdered;
}

// A lock that is free is reported as well: only those where threads waited lately, and some of the others, are timed.
void mutex_acquire(int mutex, unsigned, unsigned, uint64_t object, const void* pc) {
    trace::OmpWaitKind kind;
    ThreadRegions* const regions = kind_of(mutex, kind) ? ThreadRegions::of_this_thread() : nullptr;
    if (!regions)
        return;
    regions->acquires = regions->wait_place(kind, reinterpret_cast<uint64_t>(pc), object, trace::OmpSchedule::none, 0);
    regions->waits_since_ticks = 0;
    if (!regions->acquires)
        return;
    if (regions->acquires->watched != 0)
        --regions->acquires->watched;
    else if (regions->acquires->record->calls % kTimedEach != 0)
        return;
    regions->waits_since_ticks = mpi::ticks();
}

void mutex_acquired(int, uint64_t, const void*) {
    ThreadRegions* const regions = ThreadRegions::known();
    if (!regions || !regions->acquires || regions->waits_since_ticks == 0)
        return;
    const uint64_t waited = mpi::ticks() - regions->waits_since_ticks;
    regions->add_wait(*regions->acquires, waited);
    if (waited > kToolContendedTicks)
        regions->acquires->watched = kToolWatchedCalls;
    regions->acquires = nullptr;
    regions->waits_since_ticks = 0;
}

void task_create(Data*, const void*, Data*, int flags, int, const void*) {
    if (ThreadRegions* const regions = flags & kTaskExplicit ? ThreadRegions::known() : nullptr)
        regions->note_task(0);
}

template <class Function> Callback as_callback(Function* function) { return reinterpret_cast<Callback>(function); }

int initialize(Lookup lookup, int, Data*) {
    const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
    const link_map* const own = loaded_object(reinterpret_cast<const void*>(lookup));
    if (!set || !own)
        return 0;
    runtime.store(own, std::memory_order_release);
    set(kParallelBegin, as_callback(parallel_begin));
    set(kParallelEnd, as_callback(parallel_end));
    set(kImplicitTask, as_callback(implicit_task));
    set(kSyncRegion, as_callback(sync_region));
    set(kMutexAcquire, as_callback(mutex_acquire));
    set(kMutexAcquired, as_callback(mutex_acquired));
    set(kTaskCreate, as_callback(task_create));
    return 1;
}

void finalize(Data*) {}

StartResult start_result = {initialize, finalize, {0}};

bool user_has_tool() {
    const char* const libraries = getenv("OMP_TOOL_LIBRARIES");
    return (libraries && *libraries) || dlsym(RTLD_DEFAULT, "__tsan_init");
}

} // namespace

namespace plumb::shim::openmp {

bool reports_to_tool(const void* function) {
    const link_map* const reporting = runtime.load(std::memory_order_relaxed);
    return __builtin_expect(reporting != nullptr, 0) && loaded_object(function) == reporting;
}

} // namespace plumb::shim::openmp

extern "C" void* hook_ompt_start_tool(unsigned version, const char* name) {
    auto* const next = behind<void*(unsigned, const char*)>(Name::ompt_start_tool, __builtin_return_address(0));
    if (void* const tool = next ? next(version, name) : nullptr)
        return tool;
    const int error_of_program = errno;
    const bool wanted = recording() && collects() && !runtime.load(std::memory_order_relaxed) && !user_has_tool();
    errno = error_of_program;
    return wanted ? &start_result : nullptr;
}
