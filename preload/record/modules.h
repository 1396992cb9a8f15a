// The executable mappings of this process, as far as the dynamic loader knows them: recorded at start and after
// anything that may have loaded or unloaded a module.
#pragma once

#include <stdint.h>

namespace plumb::shim {

class Guard;

// Asks the loader for its modules and records what is new and what went. Not signal-safe (it takes the loader's list
// lock for the length of a copy); not to be called from allocation hooks. errno may change.
void scan_modules(const Guard&);

// A load is on its way whose end nobody sees (see hooks/dl.cpp): the next scan_modules_if_due() scans.
void modules_will_change();

// How many the loader has unloaded so far.
uint64_t modules_unloaded();

// Scans if the loader has loaded or unloaded anything since the last scan. One load when nothing is due.
void scan_modules_if_due(const Guard&);

// In a forked child: records what its parent knew, without asking the loader, whose lock another thread of the
// parent may have held at the fork.
void rewrite_modules(const Guard&);

} // namespace plumb::shim
