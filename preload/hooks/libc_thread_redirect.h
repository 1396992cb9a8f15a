// Threads that are started past the hooks: by the C library's own functions, which allocators (jemalloc), sanitizers and
// runtimes look up behind the preloaded ones.
//
// A new thread inherits the alignment flag, and the C library blocks all signals until it has set the thread up: the first
// unaligned access in there ends the process, and no handler can help. So these functions, too, must be called with the
// flag clear. Whoever looks them up from now on is given one that does that; the thread is not watched, and counted.
#pragma once

namespace plumb::shim {

// Once, as soon as the hooks' own functions are found: allocators look theirs up before any constructor of this library.
// Does nothing unless the environment asks for the alignment trap. Does not allocate.
void redirect_libc_thread_functions();

} // namespace plumb::shim
