// The directory that one run is recorded into, and its run.json:
//
//   { "schema": "plumb-run/1", "state": "running" | "finished", "command": [..], "host": "..", "start_unix_ns": n,
//     "begin_ns": n, "end_ns": n, "plumb_version": "..", "exit_status": n, "options": {..},
//     "job": "..", "recorders": {"expected": n, "started": n, "finished": n} }
//
// begin_ns and end_ns are CLOCK_MONOTONIC of `host`; end_ns and exit_status are missing while state is "running".
// Several `plumb run` of one parallel job (the ranks inside a launcher) share one directory: "job" tells it from
// another run's. The file is replaced whole (rename), under a lock, so a reader never sees half of it.
#pragma once

#include "record/job_identity.h"
#include "record/options.h"

#include <cstdint>
#include <set>
#include <string>

namespace plumb::record {

class RunDirectory {
  public:
    // Creates the directory (0700), or joins the one that another rank of the same job made.
    // Throws Error: it exists and holds something else; it cannot be created.
    RunDirectory(const Options& options, const JobIdentity& job);

    const std::string& path() const { return path_; } // absolute

    // Writes run.json: this recorder begins.
    void begin(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns);

    // This recorder has ended.
    struct Ended {
        bool last = true;           // of the run
        bool first_failure = false; // its program is the first one of the run to fail, and others of the run go on
    };
    Ended end(uint64_t end_ns, int exit_status);

    // Only one recorder of a node watches the node: true for the first that asks. The claim ends with the process.
    bool claim_node();

    // Processes that record into it on this host, this one included.
    std::set<uint32_t> recorders() const;

    // Takes back what begin() and the constructor made, when the program could not be started.
    void discard();

  private:
    bool join_or_create(bool named_by_user, bool force);

    std::string path_;
    JobIdentity job_;
    bool created_ = false;
    int node_lock_ = -1;
};

} // namespace plumb::record
