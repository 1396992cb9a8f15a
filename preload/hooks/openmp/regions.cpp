// Parallel regions of GCC's OpenMP runtime, and of others that offer its entry points.
//
// The runtime is handed run_part() in place of what the compiler outlined from the region, and a Call on the stack of the thread
// that starts the region: it lies there until all threads are through, because the runtime's call returns no earlier.
#include "hooks/hooks.h"
#include "hooks/openmp/runtime_functions.h"
#include "hooks/openmp/tool.h"
#include "record/openmp/thread_regions.h"

#include <stddef.h>

using namespace plumb;
using namespace plumb::shim;
using namespace plumb::shim::openmp;

namespace {

using Run = void(void*);
using Number = int();

struct alignas(64) Call { // the first line of it is all that most threads read
    Run* run;
    void* data;
    Number* thread_number;
    Invitation invitation;
    Number* thread_count; // for thread 0
};
static_assert(offsetof(Call, thread_count) == 64);

void run_part(void* of_call) {
    const Call& call = *static_cast<const Call*>(of_call); // until the region's end, which waits for this thread
    ThreadRegions* const regions = ThreadRegions::of_this_thread();
    if (!regions) {
        call.run(call.data);
        return;
    }
    const auto number = static_cast<uint32_t>(call.thread_number());
    const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    const uint32_t depth =
        regions->enter_part(call.invitation, frame, number, number == 0 ? static_cast<uint32_t>(call.thread_count()) : 0);
    call.run(call.data);
    if (ThreadRegions::known() == regions) // not in a child that was forked meanwhile
        regions->leave_part(depth, call.invitation.serial);
}

// `enter(run, data)` calls the runtime.
template <class Enter>
__attribute__((always_inline)) inline auto region(Run* run, void* data, unsigned threads, trace::OmpSchedule schedule, uint64_t chunk,
                                                  const Frame& caller, const Enter& enter) {
    const void* const pc = reinterpret_cast<const void*>(caller.pc);
    ThreadRegions* const regions = ThreadRegions::of_this_thread();
    if (!regions)
        return enter(run, data);
    Call call; // clearing it all takes longer than filling it
    call.run = run;
    call.data = data;
    call.invitation.team = nullptr;
    call.thread_number = behind<Number>(Name::omp_get_thread_num, pc);
    call.thread_count = behind<Number>(Name::omp_get_num_threads, pc);
    Number* const most_threads = behind<Number>(Name::omp_get_max_threads, pc);
    const RegionKind kind{caller.pc, reinterpret_cast<uint64_t>(run), schedule, chunk,
                          reinterpret_cast<const void*>(call.thread_number)};
    if (call.thread_number && call.thread_count && most_threads &&
        !reports_to_tool(reinterpret_cast<const void*>(call.thread_number)))
        regions->start_region(kind, caller, threads ? threads : static_cast<uint32_t>(most_threads()), call.invitation);
    if (!call.invitation.team)
        return enter(run, data);
    const uint64_t begin_ticks = mpi::ticks();
    struct AtEnd { // what the runtime returns goes by untouched
        ThreadRegions* regions;
        const Call& call;
        uint64_t begin_ticks;
        ~AtEnd() {
            if (ThreadRegions::known() == regions && call.invitation.team->invitation.serial == call.invitation.serial)
                regions->end_region(*call.invitation.team, begin_ticks, mpi::ticks());
        }
    } const at_end{regions, call, begin_ticks};
    return enter(run_part, static_cast<void*>(&call));
}

template <class Function> Function* real(Name name, const Frame& caller) {
    return behind<Function>(name, reinterpret_cast<const void*>(caller.pc));
}

using Parallel = void(Run*, void*, unsigned, unsigned);
using ParallelReductions = unsigned(Run*, void*, unsigned, unsigned);
using ParallelLoop = void(Run*, void*, unsigned, long, long, long, long, unsigned);
using ParallelRuntimeLoop = void(Run*, void*, unsigned, long, long, long, unsigned);
using ParallelSections = void(Run*, void*, unsigned, unsigned, unsigned);

} // namespace

extern "C" {

// Without a runtime behind it (the name was looked up, and taken for a library that is not there) the thread runs alone.
void hook_GOMP_parallel(Run* run, void* data, unsigned threads, unsigned flags) {
    const Frame caller = PLUMB_CALLER_FRAME();
    Parallel* const enter = real<Parallel>(Name::GOMP_parallel, caller);
    if (!enter)
        return run(data);
    region(run, data, threads, trace::OmpSchedule::none, 0, caller,
           [&](Run* what, void* with) { enter(what, with, threads, flags); });
}

unsigned hook_GOMP_parallel_reductions(Run* run, void* data, unsigned threads, unsigned flags) {
    const Frame caller = PLUMB_CALLER_FRAME();
    ParallelReductions* const enter = real<ParallelReductions>(Name::GOMP_parallel_reductions, caller);
    if (!enter)
        return 0;
    return enter(run, data, threads, flags); // the runtime reads the data itself: it is passed on as it is
}

#define PLUMB_PARALLEL_LOOP(suffix, kind)                                                                    \
    void hook_GOMP_parallel_loop_##suffix(Run* run, void* data, unsigned threads, long begin, long end, long step, long chunk, \
                                          unsigned flags) {                                                  \
        const Frame caller = PLUMB_CALLER_FRAME();                                                           \
        ParallelLoop* const enter = real<ParallelLoop>(Name::GOMP_parallel_loop_##suffix, caller);           \
        if (enter)                                                                                           \
            region(run, data, threads, trace::OmpSchedule::kind, chunk > 0 ? static_cast<uint64_t>(chunk) : 0, caller, \
                   [&](Run* what, void* with) { enter(what, with, threads, begin, end, step, chunk, flags); }); \
    }
PLUMB_PARALLEL_LOOP(static, fixed)
PLUMB_PARALLEL_LOOP(dynamic, dynamic)
PLUMB_PARALLEL_LOOP(guided, guided)
PLUMB_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic)
PLUMB_PARALLEL_LOOP(nonmonotonic_guided, guided)

#define PLUMB_PARALLEL_RUNTIME_LOOP(suffix)                                                                  \
    void hook_GOMP_parallel_loop_##suffix(Run* run, void* data, unsigned threads, long begin, long end, long step, \
                                          unsigned flags) {                                                  \
        const Frame caller = PLUMB_CALLER_FRAME();                                                           \
        ParallelRuntimeLoop* const enter = real<ParallelRuntimeLoop>(Name::GOMP_parallel_loop_##suffix, caller); \
        if (enter)                                                                                           \
            region(run, data, threads, trace::OmpSchedule::runtime, 0, caller,                               \
                   [&](Run* what, void* with) { enter(what, with, threads, begin, end, step, flags); });     \
    }
PLUMB_PARALLEL_RUNTIME_LOOP(runtime)
PLUMB_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
PLUMB_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

void hook_GOMP_parallel_sections(Run* run, void* data, unsigned threads, unsigned count, unsigned flags) {
    const Frame caller = PLUMB_CALLER_FRAME();
    if (ParallelSections* const enter = real<ParallelSections>(Name::GOMP_parallel_sections, caller))
        region(run, data, threads, trace::OmpSchedule::sections, 0, caller,
               [&](Run* what, void* with) { enter(what, with, threads, count, flags); });
}
}
