// What usually helps against time in one system call or in page faults.
#pragma once

#include "diagnoses/finding.h"
#include "diagnoses/kernel_cause.h"

#include <string>
#include <vector>

namespace plumb {

// `command`: the program with its arguments as a shell line; empty: not known.
std::vector<Advice> kernel_advice(const KernelCause& cause, const std::string& command);

} // namespace plumb
