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

// A thread is started that no hook sees: it is not watched, and that is said in the end. Signal-safe.
void alignment_thread_past_hooks();

// A thread is about to be started that uses the calling thread's thread-local storage: rewritten code, which keeps
// registers there, is taken back.
void alignment_storage_is_shared();

// The process confines itself: no thread is armed any more.
void stop_alignment_trap();

// Whether the calling thread traps unaligned accesses at present, or will again within the current window.
bool is_armed();

} // namespace plumb::shim
