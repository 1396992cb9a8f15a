// Unaligned accesses, caught by the alignment trap (PLUMB_ALIGN). See align/README.md for how.
#pragma once

#include "record/collector.h"

#include <stdint.h>

namespace plumb::shim {

extern constinit const Collector alignment_collector;

// The program's main() is about to run in the calling thread: arms it, if this process is to be watched.
void arm_at_main();

// Modules came or went (after dlopen, dlclose): which code counts must be looked up again.
void alignment_modules_changed();

// The process confines itself: no thread is armed any more.
void stop_alignment_trap();

// Called in the sampling timer's handler: begins windows of find mode in threads that have no tick of their own. `context`
// is the handler's. Signal-safe.
void alignment_tick(void* context);

// Whether the calling thread traps unaligned accesses at present, or will again within the current window.
bool is_armed();

} // namespace plumb::shim
