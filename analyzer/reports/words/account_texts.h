// What the forms of the report say alike of the time account.
#pragma once

#include "analyses/time/time_account.h"

#include <cstddef>
#include <string>

namespace plumb {

// "solver.c:31 sweep 62 %, flux.c:12 flux 20 %": shares of the line; at most `most` places.
std::string places_text(const AccountLine& line, size_t most);

// What the wall time depended on differs from the thread time only where some threads wait for others. Of a single thread
// the exact times say more than the looks.
bool shows_wall(const TimeAccount& account);

// What the account of the threads leaves out: "not included: 3 threads waiting for work (4.1 s)"; empty: nothing of weight.
std::string left_out_of(const TimeAccount& account);

} // namespace plumb
