#pragma once

#include "trial/outcome.h"

#include <string>

namespace plumb {

// Schema plumb-trial/1.
std::string trial_json(const trial::Outcome& outcome);

// A line of JSON for each cure that was tried: what was promised and what was measured (--record). `unix_s`: now.
std::string trial_lines(const trial::Outcome& outcome, int64_t unix_s);

} // namespace plumb
