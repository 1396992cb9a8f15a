#include "record/collector.h"

#include "record/align/alignment_collector.h"
#include "record/heap/heap_collector.h"
#include "record/mpi/mpi_collector.h"
#include "record/openmp/openmp_collector.h"
#include "record/pin/pin.h"
#include "record/process/settings.h"
#include "record/timer/timer_sampling.h"

namespace plumb::shim {
namespace {

struct Entry {
    const Collector* collector;
    bool running;
};
Entry collectors[] = {
    {&heap_collector, false},
    {&mpi_collector, false},
    {&openmp_collector, false},
    {&pin_collector, false},
    {&timer_sampling, false},
    {&alignment_collector, false}, // last: it arms the calling thread
};

template <class Action> void for_each_running(Action action) {
    for (Entry& entry : collectors)
        if (entry.collector && entry.running)
            action(*entry.collector);
}

} // namespace

void start_collectors(bool recorded, bool forked) {
    for (Entry& entry : collectors) {
        if (!entry.collector || (forked && !entry.running))
            continue;
        const Collector& collector = *entry.collector;
        const bool wanted = collector.without_recording ||
                            (recorded && (!collector.name || settings.lists(Setting::kCollectors, collector.name)));
        entry.running = wanted && collector.start(forked);
    }
}

void start_collectors_of_thread(void* start_routine) {
    for_each_running([&](const Collector& collector) {
        if (collector.thread_start)
            collector.thread_start(start_routine);
    });
}

void end_collectors_of_thread() {
    for_each_running([](const Collector& collector) {
        if (collector.thread_end)
            collector.thread_end();
    });
}

void end_collectors() {
    for_each_running([](const Collector& collector) {
        if (collector.process_end)
            collector.process_end();
    });
}

void repair_collectors_of_thread(ThreadState& thread) {
    for (const Entry& entry : collectors) // also those that are about to start
        if (entry.collector->repair_thread)
            entry.collector->repair_thread(thread);
}

bool collectors_watch_threads() {
    bool any = false;
    for_each_running([&](const Collector& collector) { any |= collector.without_recording; });
    return any;
}

} // namespace plumb::shim
