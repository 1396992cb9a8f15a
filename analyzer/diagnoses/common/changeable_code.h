// How much of a cost advice can reach: code that came with the system's packages is not changed by who runs it.
#pragma once

#include "model/run.h"

namespace plumb {

// Whether the program of this process is the user's own. By the place of its file; true where that is not known.
bool is_users_program(const model::Process& process);

// Page faults of one process when it starts, at most: a shell takes 200, a script interpreter 2,000. Several of them bring in one page:
// it is read first and written later, or shared with what was there before.
inline constexpr uint64_t kStartFaults = 3000;

// Share of the memory brought in by the page faults of users' programs that had been brought in before: reusing memory
// saves these faults, and no others. The rest was touched for the first time, which costs a fault in any case. 0..1; 0
// without faults. From what each process held at most, and without what starting may take, so it is a lower bound.
double repeated_fault_share(const model::Run& run);
inline constexpr double kLeastRepeated = 0.25; // below it little memory was given back and requested again

} // namespace plumb
