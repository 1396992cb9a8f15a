// Why a sample was taken in the kernel: which system call, a page fault, an interrupt, an unaligned access that the
// kernel carries out (alignment_fault), or plumb itself (own): its alignment trap, its handlers' return, its tables.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace plumb {

struct KernelCause {
    enum class Kind { system_call, page_fault, interrupt, alignment_fault, own, unknown };
    Kind kind = Kind::unknown;
    std::string name; // of the system call: "read"; else what it was, in words
    // Whose system call: an MPI library makes some for itself, to wait and to start (not those of MPI_File_*), and an OpenMP
    // runtime to put its threads to sleep and to wake them.
    enum class Maker { program, mpi, openmp };
    Maker maker = Maker::program;
};

// From the kernel's own frames where it names them; otherwise from the innermost user frame: a wrapper of a
// system call in the C library, or other code, which can only have been interrupted (nearly always by a page fault
// of its own). `node` is the leaf of the sample.
KernelCause kernel_cause_of(model::CallPaths& paths, size_t process, uint32_t node);

// "__GI___libc_pread64+0x13" -> "pread". Empty when `function` is not the wrapper of a system call.
std::string system_call_of_wrapper(std::string_view function);

} // namespace plumb
