// A series of runs as one HTML file: how their times scatter, and why; of two commands in turns what changed as well.
#pragma once

#include "repeat/repetition.h"

#include <string>

namespace plumb {

// Of a repetition of one command, or of two that has a comparison.
std::string repetition_html(const repeat::Repetition& repetition);

} // namespace plumb
