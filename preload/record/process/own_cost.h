// What a part of the shim costs the program: CPU time of the calling thread, less what parts inside counted for themselves.
// CPU time, since the shim may wait for a file system or for its turn, which costs no CPU time. A system call at each end.
#pragma once

#include "platform/os/ids_and_clocks.h"
#include "record/process/process.h"

namespace plumb::shim {

class OwnCost {
  public:
    OwnCost() : begin_ns_(thread_cpu_ns()), counted_ns_(trace_file().own_cost_ns()) {}
    OwnCost(const OwnCost&) = delete;

    ~OwnCost() {
        const uint64_t all_ns = thread_cpu_ns() - begin_ns_, inside_ns = trace_file().own_cost_ns() - counted_ns_;
        if (all_ns > inside_ns)
            trace_file().add_own_cost(all_ns - inside_ns); // nothing where no file is open
    }

  private:
    uint64_t begin_ns_, counted_ns_;
};

} // namespace plumb::shim
