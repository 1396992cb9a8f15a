// How places in code are written in every form of the report.
#pragma once

#include "reports/report.h"

#include <string>

namespace plumb {

// "file:line in function", as much of it as is known.
std::string location_text(const Location& location);

// The same for the user's line of a profile.
std::string frame_text(const model::SourceFrame& frame);

// Where its instructions were: "in sin of libm.so.6". Empty when that is the user's line itself.
std::string leaf_text(const HotLine& line);

} // namespace plumb
