// What allocation costs outside the allocator's own code, at the lines that allocate and free: building and destroying what the
// blocks hold (std::vector fills its memory, a string is copied into its own), the instructions around the calls, and walks over
// structures that only give their blocks back.
#pragma once

#include "analyses/time/allocator_code.h"
#include "model/call_paths.h"

#include <cstdint>
#include <string>

namespace plumb {

// Samples, each counted once.
struct AllocationParts {
    uint64_t contents = 0; // in code of the language's library that builds, moves or destroys what blocks hold
    uint64_t calls = 0;    // on the lines that call the allocator
    uint64_t release = 0;  // in functions that do nothing but free

    uint64_t all() const { return contents + calls + release; }
};

// Samples in the allocator itself are not part of it. Calls and release are bounded by what the allocator took: a line may hold
// more than the call, a function that frees may do more than that.
AllocationParts allocation_parts_of(model::CallPaths& paths);

// Functions of the C++ library that begin, end or move the life of objects in memory that a container obtained.
bool is_object_lifetime_function(const std::string& function);

} // namespace plumb
