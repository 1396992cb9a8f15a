// A thread that sleeps and looks sleeps too long from the moment on at which what it looks for is there. That moment is not
// seen. But if another thread has worked since the sleep began, and waits itself now, then what it brought has been there
// since. One that keeps a period of its own has nobody work for it meanwhile.
#pragma once

#include "record/watch/threads/wall_time.h"

#include <vector>

namespace plumb::record {

// LookedAt::overdue of those that sleep for some time. `threads`: of one look; LookedAt::blocked_ns of those that wait.
void mark_overdue(std::vector<LookedAt>& threads);

} // namespace plumb::record
