// A formula of one variable, as users write it: 0.1 + 8/ranks, 2e-3*log2(ranks) + 1.5/ranks^0.9. Numbers, `ranks`, + - * / ^
// and parentheses; log2, log (natural), sqrt, exp, ceil and floor of one argument, min and max of two. Own code: the packaged
// evaluators bring a parallel run-time library into the program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plumb {

// Throws Error: "column 5: ...", from 1, with what was expected there. The value may be infinite or no number at all.
double value_of_formula(std::string_view text, double ranks);

} // namespace plumb
