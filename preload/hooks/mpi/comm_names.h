// Names that programs give communicators, and those of files.
#pragma once

#include "hooks/mpi/languages.h"

namespace plumb::shim::mpi {

constexpr size_t kMostNameBytes = 256; // MPI_MAX_OBJECT_NAME is 64 to 128

inline Word c_string_length(Word text) { return strnlen(reinterpret_cast<const char*>(text), kMostNameBytes); }

// Fortran's strings end in blanks.
inline void name_comm(Handle key, Word text, Word length) {
    const char* const name = reinterpret_cast<const char*>(text);
    size_t bytes = length < kMostNameBytes ? length : kMostNameBytes;
    while (bytes > 0 && name[bytes - 1] == ' ')
        --bytes;
    comm_named(key, name, bytes);
}

} // namespace plumb::shim::mpi
