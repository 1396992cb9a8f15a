// A series of runs of two commands in turns as one HTML file: the page of their comparison, and how the times of each scatter.
#pragma once

#include "repeat/repetition.h"

#include <string>

namespace plumb {

// Of a repetition that has a comparison.
std::string repetition_html(const repeat::Repetition& repetition);

} // namespace plumb
