#include "record/openmp/openmp_collector.h"

#include "platform/unwind/unwind_table.h"
#include "record/openmp/runtime_clock.h"
#include "record/openmp/thread_regions.h"

namespace plumb::shim {
namespace {

std::atomic<bool> is_running{false};

bool start(bool forked) {
    openmp::forget_runtime();
    if (!forked) {
        mpi::choose_clock();
        start_unwinding();
    }
    is_running.store(true, std::memory_order_relaxed);
    return true;
}

void thread_end() { openmp::ThreadRegions::hand_down_judgements(); }

void process_end() {
    openmp::ThreadRegions::hand_down_judgements();
    openmp::set_clock();
}

} // namespace

namespace openmp {
bool collects() { return is_running.load(std::memory_order_relaxed); }
}

constinit const Collector openmp_collector = {"openmp", false, start, nullptr, thread_end, process_end};

} // namespace plumb::shim
