// What all findings about remote memory have in common.
#pragma once

#include "diagnoses/diagnosis.h"
#include "diagnoses/finding.h"
#include "analyses/memory/memory_cause.h"

#include <optional>
#include <string>

namespace plumb {

// The cases of remote memory with this cause, by remote time.
const std::vector<MemoryCase>& memory_cases(const DiagnosisInput& input, MemoryCause cause);

std::string megabytes(uint64_t bytes); // "1234 MiB"

// With cost, places, subject and evidence; nothing when it costs too little to be mentioned. The cost is what the
// distances of the nodes say that the remote accesses took longer than local ones; `bound`: all of their time, since they
// also wait for one another at one node.
std::optional<Finding> memory_finding(const DiagnosisInput& input, const MemoryCase& one, const char* id, bool bound);

// The line of the user's code that touched most of it first, where page faults were sampled.
std::optional<Location> touched_at(const DiagnosisInput& input, const MemoryObject& object);

// "node 0", "nodes 0 and 2", "nodes 0, 1 and 5": those whose CPUs make the remote accesses.
std::string remote_user_nodes(const MemoryCase& one);

} // namespace plumb
