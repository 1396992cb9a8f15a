// What one trace file's records refer to (texts, call-path nodes, a clock), and the state all files share while a
// model::Run is built from them.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/context/path_merger.h"
#include "trace/file/mixed_hash.h"
#include "trace/file/string_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class FileContext {
  public:
    // `clock_shift_ns`: what to add to the file's times to get those of the run's first host. Wraps.
    FileContext(size_t host, uint64_t pid_namespace, uint64_t clock_shift_ns, Allowance& allowance)
        : host_(host), pid_namespace_(pid_namespace), clock_shift_ns_(clock_shift_ns), allowance_(allowance) {}

    StringTable strings;
    FileNodes nodes;

    size_t host() const { return host_; }
    uint64_t pid_namespace() const { return pid_namespace_; } // of the pids in the file's records

    // The pid, as the file has it, of the process that the record being taken is about.
    uint32_t pid() const { return pid_; }
    void set_pid(uint32_t pid) { pid_ = pid; }

    // Threads of processes in inner PID namespaces: the recorder's number of one, and that by which it knows itself.
    void add_inner_thread(uint32_t pid, uint32_t tid, uint32_t inner_tid) { inner_tids_[key(pid, tid)] = inner_tid; }
    bool has_inner_threads() const { return !inner_tids_.empty(); }
    uint32_t inner_tid(uint32_t pid, uint32_t tid) const {
        const auto found = inner_tids_.find(key(pid, tid));
        return found == inner_tids_.end() ? tid : found->second;
    }
    Allowance& allowance() const { return allowance_; }

    // Number of the last moment at which the heap of the file's process reached a new maximum.
    uint64_t peak_epoch() const { return peak_epoch_; }
    void see_peak_epoch(uint64_t epoch) { peak_epoch_ = std::max(peak_epoch_, epoch); }

    uint64_t clock_shift_ns() const { return clock_shift_ns_; }

    // 0 means "not known" in every record and stays 0.
    uint64_t time(uint64_t file_ns) const { return file_ns == 0 ? 0 : file_ns + clock_shift_ns_; }

    // Copies are charged to the allowance: many small records can name one long text.
    std::string text(StringId id) const;
    std::vector<std::string> arguments(StringId id) const; // texts separated by NUL
    model::CpuSet cpus(StringId id) const;                 // list format; empty: not known

  private:
    static uint64_t key(uint32_t pid, uint32_t tid) { return static_cast<uint64_t>(pid) << 32 | tid; }

    size_t host_;
    uint64_t pid_namespace_;
    uint32_t pid_ = 0;
    std::unordered_map<uint64_t, uint32_t, MixedHash> inner_tids_;
    uint64_t clock_shift_ns_;
    Allowance& allowance_;
    uint64_t peak_epoch_ = 0;
    mutable struct {
        StringId id = 0;
        model::CpuSet cpus;
    } last_cpus_; // most threads of a process may use the same ones
};

} // namespace plumb::trace
