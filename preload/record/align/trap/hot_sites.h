// Exact mode: sites that trap often are rewritten (rewrite.h), and their hits are counted without a signal from then on.
// Signal-safe.
#pragma once

#include "record/align/sites/site.h"
#include "record/align/trap/watched_thread.h"

#include <signal.h>
#include <ucontext.h>

namespace plumb::shim {

// Once, before the first hit. False: nothing will be rewritten here.
bool begin_rewriting();

// The calling thread has hit the site, and the hit is counted, or does not count (in excluded code: it is to cost nothing
// any more): where it goes on with a clear alignment flag; 0: the site stays trapped, so step over it. Rewrites the site
// when its time has come.
uint64_t way_over_hot_site(Site& site, bool counts);

// In a forked child, whose trace has none of it: where the code of the sites that its parent rewrote lies.
void record_rewritten_code(const Guard&);

// SIGTRAP was raised by rewriting: by the breakpoint of a site that is being changed, or by a single step that began in
// front of a site which has been rewritten since. The thread is sent on. False: it has other reasons.
bool on_trap_of_rewriting(WatchedThread* thread, const siginfo_t& info, ucontext_t* context);

// Hits without a signal become part of the thread's totals.
void add_rewritten_hits(WatchedThread& thread);

// At the end of the process: which sites were rewritten and why others were not, as evidence; totals of all threads.
void tell_about_rewriting(const Guard&);

} // namespace plumb::shim
