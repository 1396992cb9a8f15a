#include "reports/complain.h"

#include "reports/words/utf8.h"

#include <cstdio>
#include <fmt/core.h>

namespace plumb {

void complain(std::string_view message) { fmt::print(stderr, "plumb: {}\n", sanitised(message)); }

} // namespace plumb
