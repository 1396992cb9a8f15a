// The MPI call that a thread is inside of, shown in the trace file at any moment: what a job that hangs, or was killed,
// was waiting for.
//
// A call costs a few plain stores: what needs a table is left to those who read (handles of communicators and requests are
// written as they are). The beginning is stored last, and cleared when the library returns.
#pragma once

#include "record/mpi/mpi_call.h"

namespace plumb::shim::mpi {

// Belongs to one thread at a time. Zeroed memory plus begin() is valid.
class CurrentCall {
  public:
    void begin(const Guard&); // another thread takes it over

    // The call's name and the caller's path are known, or 0. What is recorded of it is written through the record; it shows
    // once begin_ticks is set.
    trace::MpiInside* enter(const Function& function, trace::StringId name, uint64_t pc) {
        trace::MpiInside* const record = record_;
        __atomic_store_n(&record->call, name, __ATOMIC_RELAXED);
        __atomic_store_n(&record->kind, function.kind, __ATOMIC_RELAXED);
        __atomic_store_n(&record->return_address, pc, __ATOMIC_RELAXED);
        __atomic_store_n(&record->comm, 0, __ATOMIC_RELAXED);
        return record;
    }
    void called_by(trace::NodeId path) { __atomic_store_n(&record_->path, path, __ATOMIC_RELAXED); }

  private:
    trace::MpiInside* record_;
    trace::MpiInside lost_; // stands in where the file has no room
};

} // namespace plumb::shim::mpi
