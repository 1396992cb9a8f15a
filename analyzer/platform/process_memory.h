// Reads the memory of another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plumb::platform {

struct MemoryPiece {
    uint64_t address = 0; // in the other process
    void* to = nullptr;
    size_t bytes = 0;
};

// How many bytes were read, piece by piece, up to the first that is missing. 0 and errno: none. At most eight pieces.
//
// By process_vm_readv; where a filter of system calls (containers) forbids it, by /proc/PID/mem, which takes the same rights:
// slower, three system calls and one for each piece.
size_t read_process_memory(uint32_t pid, std::span<const MemoryPiece> pieces);

} // namespace plumb::platform
