// What remains when nothing can be recorded: the program itself.
#pragma once

#include "record/run/child.h"
#include "record/run/options.h"

#include <string>

namespace plumb::record {

// Says in one sentence on stderr that the program runs unrecorded and why, and becomes the program: its exit status,
// signals and terminal are its own from here on. It is placed on CPUs as the options say. Throws Error (126, 127) when
// it cannot be executed.
[[noreturn]] void run_unrecorded(const Options& options, const Inheritance& inheritance, const std::string& why);

// The same where there is no memory even for that: nothing is allocated, the program is placed nowhere.
[[noreturn]] void run_without_memory(const Options& options, const Inheritance& inheritance) noexcept;

} // namespace plumb::record
