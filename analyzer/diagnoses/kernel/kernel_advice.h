// What usually helps against time in one system call or in page faults.
#pragma once

#include "analyses/time/kernel_cause.h"
#include "diagnoses/finding.h"
#include "diagnoses/kernel/fault_source.h"

#include <string>
#include <string_view>
#include <vector>

namespace plumb {

// `command`: the program with its arguments as a shell line; empty: not known. `faults`: whose memory the run's page
// faults are for.
std::vector<Advice> kernel_advice(const KernelCause& cause, const std::string& command, FaultSource faults);

// Against time in reads or writes whose requests are large.
std::vector<Advice> large_request_advice(const KernelCause& cause);

// Copies data between the program and the kernel: what is read and written must be so, in however few calls.
bool moves_data(std::string_view call);

// Maps memory or gives it back: allocators and run-time systems make these calls, programs seldom do themselves.
bool is_memory_call(std::string_view call);

} // namespace plumb
