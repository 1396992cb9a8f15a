// Loops and sections whose parts the runtime hands out: which schedule a region has.
#include "hooks/hooks.h"
#include "hooks/openmp/runtime_functions.h"
#include "record/openmp/thread_regions.h"

using namespace plumb;
using namespace plumb::shim;
using namespace plumb::shim::openmp;

namespace {

void note(trace::OmpSchedule schedule, long chunk, const void* frame) {
    if (ThreadRegions* const regions = ThreadRegions::known())
        regions->note_loop(schedule, chunk > 0 ? static_cast<uint64_t>(chunk) : 0, reinterpret_cast<uint64_t>(frame));
}

// As the compiler passes it to the functions that serve all schedules.
trace::OmpSchedule schedule_of(long word) {
    constexpr trace::OmpSchedule kSchedules[] = {trace::OmpSchedule::runtime, trace::OmpSchedule::fixed, trace::OmpSchedule::dynamic,
                                                 trace::OmpSchedule::guided, trace::OmpSchedule::automatic};
    const auto number = static_cast<uint64_t>(word) & 0x7fffffff;
    return number < sizeof kSchedules / sizeof *kSchedules ? kSchedules[number] : trace::OmpSchedule::none;
}

} // namespace

extern "C" {

#define PLUMB_LOOP(name, schedule, chunk)                                                                    \
    bool hook_##name(PLUMB_LOOP_PARAMETERS) {                                                                \
        note(schedule, chunk, __builtin_frame_address(0));                                                   \
        auto* const begin = behind<bool(PLUMB_LOOP_PARAMETERS)>(Name::name, __builtin_return_address(0));    \
        return begin && begin(a, b, c, d, e, f, g, h, i, j);                                                 \
    }
PLUMB_LOOP(GOMP_loop_dynamic_start, trace::OmpSchedule::dynamic, d)
PLUMB_LOOP(GOMP_loop_guided_start, trace::OmpSchedule::guided, d)
PLUMB_LOOP(GOMP_loop_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_nonmonotonic_dynamic_start, trace::OmpSchedule::dynamic, d)
PLUMB_LOOP(GOMP_loop_nonmonotonic_guided_start, trace::OmpSchedule::guided, d)
PLUMB_LOOP(GOMP_loop_nonmonotonic_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_maybe_nonmonotonic_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_ull_dynamic_start, trace::OmpSchedule::dynamic, e)
PLUMB_LOOP(GOMP_loop_ull_guided_start, trace::OmpSchedule::guided, e)
PLUMB_LOOP(GOMP_loop_ull_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_ull_nonmonotonic_dynamic_start, trace::OmpSchedule::dynamic, e)
PLUMB_LOOP(GOMP_loop_ull_nonmonotonic_guided_start, trace::OmpSchedule::guided, e)
PLUMB_LOOP(GOMP_loop_ull_nonmonotonic_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, trace::OmpSchedule::runtime, 0)
PLUMB_LOOP(GOMP_loop_start, schedule_of(d), e)
PLUMB_LOOP(GOMP_loop_ull_start, schedule_of(e), f)

unsigned hook_GOMP_sections_start(unsigned count) {
    note(trace::OmpSchedule::sections, 0, __builtin_frame_address(0));
    auto* const begin = behind<unsigned(unsigned)>(Name::GOMP_sections_start, __builtin_return_address(0));
    return begin ? begin(count) : 0;
}

unsigned hook_GOMP_sections2_start(unsigned count, void* reductions, void** memory) {
    note(trace::OmpSchedule::sections, 0, __builtin_frame_address(0));
    auto* const begin = behind<unsigned(unsigned, void*, void**)>(Name::GOMP_sections2_start, __builtin_return_address(0));
    return begin ? begin(count, reductions, memory) : 0;
}
}
