// Messages on standard error. Most name files, or repeat what a file says: neither may write to the terminal as it likes.
#pragma once

#include <string_view>

namespace plumb {

// One line, "plumb: MESSAGE", sanitised (reports/words/utf8.h). Not thread-safe.
void complain(std::string_view message);

} // namespace plumb
