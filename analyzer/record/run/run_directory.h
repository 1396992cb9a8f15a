// The directory that one run is recorded into, and its run.json:
//
//   { "schema": "plumb-run/1", "state": "running" | "finished", "command": [..], "host": "..", "start_unix_ns": n,
//     "begin_ns": n, "end_ns": n, "plumb_version": "..", "exit_status": n, "options": {..},
//     "job": "..", "recorders": {"expected": n, "started": n, "finished": n, "unrecorded": n} }
//
// "unrecorded" ranks are among those that started and finished, so that the others need not wait for them.
// begin_ns and end_ns are CLOCK_MONOTONIC of `host`; end_ns and exit_status are missing while state is "running".
// Several `plumb run` of one parallel job (the ranks inside a launcher) share one directory: "job" tells it from
// another run's. The file is replaced whole (rename), under a lock, so a reader never sees half of it.
#pragma once

#include "record/run/job_identity.h"
#include "record/run/options.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace plumb::record {

// A name for a new directory that says what ran and when, to a second: "plumb-<program>-20260117-143000".
std::string timed_name(const std::string& prefix, const std::string& program);

inline constexpr char kKernelMessagesFile[] = "kernel.log"; // what the kernel wrote meanwhile: analysis/machine_report.h reads it

class RunDirectory {
  public:
    // Creates the directory (0700), or joins the one that another rank of the same job made. Nothing but a directory
    // of this user's own, closed to everybody else, is joined or written into.
    // A run that has not ended is left alone: then the first of NAME-2, NAME-3, ... that is free.
    // Throws UsageError: it exists and holds a run that has ended, or something else. Throws Error: it cannot be created, or is
    // not one's own.
    RunDirectory(const Options& options, const JobIdentity& job);
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    const std::string& path() const { return path_; } // absolute

    // For this recorder's trace: a name that no other has, whatever pids and host names are in use.
    std::string new_trace_path() const;

    // Why the recorders of this run cannot keep out of each other's way by locks; empty: they can.
    const std::string& why_no_locks() const { return why_no_locks_; }

    // Writes run.json: this recorder begins.
    void begin(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns);

    // Instead, where nothing can be recorded: the others of the job do not wait for this one. Where there are no others
    // what the constructor made is taken back. Throws Error.
    void begin_unrecorded(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns);

    // This recorder has ended.
    struct Ended {
        bool last = true;           // of the run
        bool first_failure = false; // its program is the first one of the run to fail, and others of the run go on
    };
    Ended end(uint64_t end_ns, int exit_status);

    // Only one recorder of a node watches the node: true for the first that asks, and for the first that asks after that
    // one has ended. (Where there are no locks and that one was killed in another container, nobody can know.)
    bool claim_node();

    // True for the first that asks on this node, and for no other, also after that one has ended. Throws Error.
    bool claim_node_once();

    // Processes that record into it on this host, this one included.
    std::set<uint32_t> recorders() const;

    // Takes back what begin() and the constructor made, when the program could not be started.
    void discard();

  private:
    bool join_or_create(bool named_by_user, bool force);
    bool open_own(bool must_be);
    std::string read_file(const char* name) const;
    bool write_file(const char* name, const std::string& text) const; // whole or not at all; errno
    nlohmann::json read_run_json() const;
    nlohmann::json read_or_new_run_json(const Options& options, uint64_t begin_ns, uint64_t start_unix_ns) const;
    void write_run_json(const nlohmann::json& content) const;

    std::string path_;
    JobIdentity job_;
    std::string host_; // as it is recorded
    bool created_ = false;
    bool begun_ = false;
    bool is_closed_ = false; // to everybody else
    int directory_ = -1; // what was found to be this user's own: all names are looked up in it
    std::string why_no_locks_;
    int node_lock_ = -1;
    std::string claimed_file_; // where there are no locks
};

} // namespace plumb::record
