// Who this process and thread are. Signal-safe; errno is untouched.
#pragma once

#include <stdint.h>

namespace plumb::shim {

uint32_t process_id();
uint32_t parent_process_id();
uint32_t thread_id();

// Field 22 of /proc/PID/stat: clock ticks since boot at which the process began; 0: unknown. `text` is the whole
// content of the file. The command's name (field 2) may hold blanks and parentheses.
uint64_t parse_start_ticks(const char* text);

// The same of this process, read below `proc_root` ("/proc").
uint64_t process_start_ticks(const char* proc_root);

// Threads of this process, counted by the kernel; 0: unknown.
uint64_t process_thread_count(const char* proc_root);

uint64_t thread_cpu_ns();  // of the calling thread
uint64_t process_cpu_ns(); // of all threads, those that have ended included
uint64_t wall_clock_ns(); // CLOCK_REALTIME

} // namespace plumb::shim
