// What the shim recorded of MPI in one model::Process under construction. Single events (collectives, messages) are left
// in the file: replay/ reads them there.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <string>

namespace plumb::trace {

class MpiBuilder {
  public:
    explicit MpiBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // Threads and paths are indexes into the process's own lists. `clock_shift_ns`: what to add to the file's times to
    // get those of the run; wraps. The records come in any order.
    void take(const MpiRank& record, std::string library_version, std::string job, uint64_t clock_shift_ns);
    void take(const MpiComm& record, uint32_t path, std::string name, Allowance& allowance);
    void take(const MpiSite& record, uint32_t thread, uint32_t path, std::string call, Allowance& allowance);
    void take(const MpiPeer& record, Allowance& allowance);
    void take(const MpiRequest& record, Allowance& allowance);
    void show_calls() { mpi().shows_calls = true; } // it has an MpiInside
    // `path`: of the innermost frame at least.
    void take(const MpiInside& record, uint32_t thread, uint32_t path, std::string call, Allowance& allowance);

    // The file that held what was taken so far, as replay/ is to open it.
    void end_file(const std::string& name);

    // Turns ticks into nanoseconds, which takes the rank's last record.
    void finish();

  private:
    model::MpiProcess& mpi();
    void finish_inside(model::MpiInside& inside, uint64_t comm_handle) const;

    model::Process& process_;
    bool has_rank_ = false;
    std::vector<uint64_t> comm_handles_; // of MpiProcess::inside
};

} // namespace plumb::trace
