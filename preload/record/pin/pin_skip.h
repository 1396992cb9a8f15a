// Threads that are no workers of the program: progress and event threads of run-time libraries.
#pragma once

namespace plumb::shim {

// Whether the library that holds `address` (a start routine, or the place of a pthread_create call) matches one of
// the colon-separated globs of `more` (may be null) or the built-in ones. Lock-free; false for the program itself.
bool is_helper_library(const void* address, const char* more);

// The same for a thread's name.
bool is_helper_name(const char* name, const char* more);

} // namespace plumb::shim
