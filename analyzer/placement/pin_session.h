// Placement of one launched command: the plan, the group's shared table and the child's environment.
#pragma once

#include "placement/pin_group.h"
#include "placement/pin_options.h"
#include "platform/topology.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace plumb::placement {

class PinSession {
  public:
    // Plans at once. `directory`: where the shared table goes, "" for a private one that is removed in the end.
    // Throws plumb::Error: a list that names CPUs which are not allowed, no place for the table, ...
    PinSession(const PinOptions& options, const std::string& directory);

    // NAME, VALUE pairs that the child's environment must hold (LD_PRELOAD is the launcher's business). Includes
    // OMP_NUM_THREADS if the user did not set it and `command` is no MPI launcher: an OpenMP run-time library that
    // sizes itself from the main thread's mask would otherwise see one CPU.
    std::vector<std::pair<std::string, std::string>> environment(const std::vector<std::string>& command) const;

    // For a program the shim cannot enter (static): confines process `pid` (which has not yet run the program) to
    // the CPUs of its block as a set, so that all its threads share them. Returns 0 or an errno.
    int confine(pid_t pid) const;

    const Plan& plan() const { return plan_; }
    const platform::Topology& topology() const { return topology_; }
    const PinGroup& group() const { return *group_; }
    const std::vector<int>& allowed() const { return allowed_; }

    // The launcher's local rank that this plumb is itself; -1: none.
    int local_rank() const { return rank_block_; }

    // Who may run where, as planned; each line ends with a newline.
    std::string planned_table() const;
    // Who was given what; "" if nothing was pinned. To be called when the command has ended.
    std::string applied_table() const;

  private:
    PinOptions options_;
    Wish wish_;
    std::vector<int> allowed_;
    platform::Topology topology_;
    Plan plan_;
    std::unique_ptr<PinGroup> group_;
    std::vector<unsigned long> block_mask_; // for confine()
    int threads_per_process_ = 0;           // 0: not known
    int rank_block_ = -1;                   // local rank of this launcher itself, -1: none
};

} // namespace plumb::placement
