// A collector watches one kind of thing (allocations, time, placement). To add one: a file that defines its
// Collector, and a line in record/collectors.cpp.
#pragma once

#include "record/process/thread_state.h"

namespace plumb::shim {

struct Collector {
    const char* name; // as PLUMB_COLLECTORS names it; null: start() decides alone

    // Whether it works without PLUMB_RUN and in processes that are not recorded (placement). Then its functions may
    // be called in threads without a state, where every Guard is false.
    bool without_recording;

    // At the start of the process, in its first thread, and again in the one thread of a forked child. False: it has
    // nothing to do in this process (not asked for, or it failed and wrote the evidence); it is not called again.
    bool (*start)(bool forked);

    // In each new thread before the program's code, and in its end (also by pthread_exit and cancellation) after
    // it. Not called for the first thread's begin: start() is. Null: nothing to do. Both take their own Guard.
    void (*thread_start)(void* start_routine);
    void (*thread_end)();

    // Before the process's last record: also from _exit in a signal handler, so signal-safe. Other threads may
    // still run. Not called before exec. Null: nothing to do.
    void (*process_end)();

    // In a thread whose recording was left in the middle by a jump out of a signal handler, at any instruction: makes what
    // is kept of it fit for use again. Signal-safe, no Guard. Null: nothing to do.
    void (*repair_thread)(ThreadState&) = nullptr;
};

void start_collectors(bool recorded, bool forked);
void start_collectors_of_thread(void* start_routine);
void end_collectors_of_thread();
void end_collectors();
void repair_collectors_of_thread(ThreadState&);

// Whether new threads must be reported to any collector although the process is not recorded.
bool collectors_watch_threads();

} // namespace plumb::shim
