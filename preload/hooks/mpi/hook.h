// What all hooks of MPI functions are made of.
#pragma once

#include "hooks/mpi/languages.h"
#include "platform/os/hidden.h"
#include "record/paths/call_path.h"

#include <atomic>
#include <errno.h>

namespace plumb::shim::mpi {

// One exported name, and what stands behind it. Looked up at its first call: after that it is one load.
struct Spelling {
    const char* name;
    std::atomic<void*> function;

    void* look_up() {
        void* const found = find_function(name);
        function.store(found, std::memory_order_relaxed);
        return found;
    }
    template <class Real> Real* behind() {
        void* found = function.load(std::memory_order_relaxed);
        if (__builtin_expect(!found, 0))
            found = look_up();
        return reinterpret_cast<Real*>(found);
    }
};

// What a program gets that calls a function which its MPI library does not have (or that has no MPI library, and
// takes the presence of the name for one): MPI_ERR_OTHER of most libraries.
constexpr int32_t kNoSuchFunction = 16;

inline Word no_such_function(Word error) {
    if (error != 0)
        *reinterpret_cast<int32_t*>(error) = kNoSuchFunction;
    return 0;
}

// Fortran's last argument, the error code. mpi_f08 may leave it out; the library then gets a place of ours.
class FortranError {
  public:
    explicit FortranError(Word place) : place_(place != 0 ? place : reinterpret_cast<Word>(&own_)) {}
    FortranError(const FortranError&) = delete;
    FortranError& operator=(const FortranError&) = delete;

    Word place() const { return place_; }
    int32_t value() const { return value_at<int32_t>(place_); }

  private:
    Word place_;
    int32_t own_ = 0;
};

} // namespace plumb::shim::mpi
