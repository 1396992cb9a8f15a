// What is said of a machine that was looked at, in words that all formats share.
#pragma once

#include "analyses/system/system_summary.h"

#include <string>

namespace plumb {

// "2 CPUs in 60 s: 57 % user, 43 % kernel, 0 % interrupts, 0 % taken by the host, 0 % idle; ..."
std::string system_verdict(const SystemSummary& system);

std::string system_program_name(const SystemProgram& program); // "solver (4 processes)"
std::string system_memory_words(const SystemMemory& node, size_t nodes);

} // namespace plumb
