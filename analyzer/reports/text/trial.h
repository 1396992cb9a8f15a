#pragma once

#include "reports/text/terminal.h"
#include "trial/outcome.h"

#include <string>

namespace plumb {

// `is_list`: nothing was to be measured, only what could be tried.
std::string trial_text(const trial::Outcome& outcome, bool is_list, const TextStyle& style);

} // namespace plumb
