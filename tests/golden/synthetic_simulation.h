// Simulations that never ran: what a report of one shows, the same on every machine whatever the simulator does.
#pragma once

#include "simulate/study.h"

#include <string>

namespace plumb::synthetic {

// "simulation": classes in groups, larger jobs, a class with fitted values. "simulation-quiet": no noise. "simulation-halo": no
// last rank. "simulation-hostile": every name tries to break out of its form. Throws Error for another name.
simulate::Study make_study(const std::string& kind);

bool is_study(const std::string& kind);

} // namespace plumb::synthetic
