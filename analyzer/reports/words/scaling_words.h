// A sweep in sentences, for all forms of its report.
#pragma once

#include "scale/scaling.h"

#include <string>
#include <vector>

namespace plumb {

std::string point_words(scale::Axis axis, const scale::PointValue& point); // "4 threads", "size 1000"

// What to know before the tables: the best point, what cannot be said apart, the law, what grows.
std::vector<std::string> scaling_sentences(const scale::Scaling& scaling);

} // namespace plumb
