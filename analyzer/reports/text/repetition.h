#pragma once

#include "repeat/repetition.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

std::string repetition_text(const repeat::Repetition& repetition, const TextStyle& style);

} // namespace plumb
