// The processes of the run as seen from outside, with their executable mappings over time. Fed with perf records;
// writes ProcessSeen, ProcessGone, ModuleLoad and ModuleUnload.
#pragma once

#include "platform/task_stat.h"
#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace plumb::record {

struct MappedModule {
    uint64_t end = 0, file_offset = 0, device = 0, inode = 0, loaded_ns = 0;
    std::string path;
    uint8_t build_id[20] = {}, build_id_size = 0;
    uint32_t flags = 0; // trace::ModuleFlags
    uint32_t id = 0;    // 0: not yet in the file
};

// One image of a process: it begins by fork or exec.
struct Process {
    uint32_t pid = 0, parent_pid = 0;
    uint64_t start_ns = 0;
    std::string name, executable;
    uint32_t flags = 0;         // trace::ProcessSeenFlags
    bool seen_written = false;  // ProcessSeen of this image is in the file
    bool modules_written = false; // from its first sample on
    bool leader_exited = false;   // its first thread ended; others may go on
    uint64_t pid_namespace = 0;   // if it is not the recorder's; with it
    uint32_t inner_pid = 0;       // by which the process knows itself
    bool begun_in_view = false;   // the kernel reported its fork, and so every thread of it
    uint32_t threads = 1;         // living, of one that began in view
    std::map<uint64_t, MappedModule> modules; // by start
    uint64_t modules_version = 0; // another one whenever `modules` changes
    uint64_t generation = 0;    // unique to this image: addresses of different images have nothing in common

    // The mapping that `address` lies in, or null.
    const MappedModule* module_at(uint64_t address) const;
};

class ProcessTable {
  public:
    // `most_bytes_each`: how much the trace file may grow for each process that joins.
    ProcessTable(NodeTraceWriter& file, uint64_t most_bytes_each) : file_(file), most_bytes_each_(most_bytes_each) {}

    void take(const PerfRecord& record); // fork, exec, comm, mapping and exit; ignores others

    // Known, or learned from /proc now (its own records were lost, or perf is forbidden). Null: it is gone.
    Process* find_or_read(uint32_t pid);
    Process* find(uint32_t pid);

    // The first process, before its exec; with perf its records tell all else.
    void launch(uint32_t pid, uint32_t parent_pid, const std::string& command_line);

    // Without perf: looks into /proc for new children of the known processes, or for any process, and for processes that are gone.
    enum class Whom { children, everybody };
    void discover(uint64_t now_ns, Whom whom = Whom::children);

    // From its first sample on a process's modules are in the file.
    void write_modules(Process& process);

    void gone(uint32_t pid, uint64_t time_ns, int wait_status, uint64_t user_ns, uint64_t system_ns,
              uint64_t max_rss_bytes);

    std::vector<uint32_t> take_gone(); // processes that ended since the last call
    std::vector<uint32_t> living() const;
    bool was_seen(uint32_t pid) const { return seen_.contains(pid); } // living or ended
    const std::vector<std::string>& blind_spots() const { return blind_spots_; } // executables the shim cannot enter

  private:
    Process& add(uint32_t pid, uint32_t parent_pid, uint64_t time_ns);
    void begin_image(Process& process, uint64_t time_ns);
    void write_seen(Process& process);
    void map(Process& process, uint64_t start, MappedModule module);
    void unmap(Process& process, std::map<uint64_t, MappedModule>::iterator module, uint64_t time_ns);
    void write_module(Process& process, uint64_t start, MappedModule& module);
    void classify(Process& process);
    void find_namespace(Process& process) const;
    void read_maps(Process& process);
    Process& read(uint32_t pid, const platform::TaskStat& stat);

    NodeTraceWriter& file_;
    const uint64_t pid_namespace_ = platform::read_pid_namespace("/proc", "self");
    uint64_t most_bytes_each_;
    uint32_t modules_ = 0; // ids given
    uint64_t generations_ = 0;
    std::vector<uint32_t> gone_;
    std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_; // living
    std::unordered_set<uint32_t> seen_;
    std::map<uint32_t, uint64_t> strangers_; // pid, start: looked at by discover()
    std::string first_command_line_;
    uint32_t first_pid_ = 0;
    std::vector<std::string> blind_spots_;
    std::unordered_map<std::string, uint32_t> kinds_; // of executables that were looked at
};

} // namespace plumb::record
