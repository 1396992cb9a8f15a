// The recording of this process: begun once at its start, once more in every forked child, ended once.
//
// Whether the process is recorded stands in a page that a forked child finds zeroed, however it was forked (fork,
// raw clone, daemon): a child records nothing until it was given a file of its own. vfork and posix_spawn children
// share the parent's memory, so what ends a process asks runs_in_recorded_process() first.
#pragma once

#include "record/process/launcher.h"
#include "record/process/mapped_trace.h"

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

class Guard;

// Signal-safe, two loads.
bool recording();

// Creates the trace file and writes ProcessStart; the calling thread becomes a recorded thread. Returns 0 or the
// negative error number of the file. errno is untouched.
int begin_recording(const char* run_directory, uint64_t limit_bytes, const LaunchFacts&, bool forked);

// In a forked child, before anything else: forgets the parent's threads. True if the parent was recorded.
bool forget_parent();

// False in a vfork child, where memory says otherwise. One system call; signal-safe.
bool runs_in_recorded_process();

// Writes what is to be written when the process ends in this way, and stops recording for all threads.
void end_recording(trace::EndKind, int32_t status);

// The same before exec, which may fail: resume_after_exec() takes it back. Null: nothing was recorded.
trace::ProcessEnd* end_before_exec(const Guard&);
void resume_after_exec(trace::ProcessEnd*);

// Stops recording for good; from here on the shim makes no system call, not even in the end. `why` goes into the
// evidence.
void become_confined(const char* why);
bool is_confined();

MappedTrace& trace_file();
uint32_t recorded_pid();
trace::StringId next_string_id();

} // namespace plumb::shim
