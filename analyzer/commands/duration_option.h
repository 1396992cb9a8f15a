// Times on the command line: "5ms", "20us", "1.5s", "0".
#pragma once

#include <string>

namespace plumb {

// In seconds. Throws UsageError, naming the option and the text: no number of at least 0, a unit other than h, min, s, ms, us and ns,
// or none where the number is not 0.
double parse_duration_s(const std::string& option, const std::string& text);

} // namespace plumb
