// What /proc says about one thread or process. `root` is "/proc" except in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

struct TaskStat { // PID/stat or PID/task/TID/stat
    std::string name;
    char state = '?';
    uint32_t parent_pid = 0, group = 0, session = 0;
    uint64_t minor_faults = 0, major_faults = 0;
    uint64_t user_ns = 0, system_ns = 0; // resolution: the clock tick
    uint64_t start_ticks = 0;            // since boot; with the pid the identity of a process
    uint32_t thread_count = 0;
    int cpu = -1; // last one it ran on
    int nice = 0, policy = 0; // sched(7)
    uint64_t stack_start = 0;       // address below which its stack grows; 0: the kernel does not say it of others' processes
    uint64_t environment_bytes = 0; // as it was at exec; likewise
};

struct TaskScheduling { // PID/task/TID/schedstat
    uint64_t run_ns = 0, run_delay_ns = 0, slices = 0;
};

struct TaskStatus { // PID/task/TID/status
    uint64_t voluntary_switches = 0, involuntary_switches = 0;
    std::string allowed_cpus; // list format
    uint32_t user_id = 0;     // effective
    uint32_t inner_id = 0;    // by which the task knows itself, if it is in a PID namespace below that of `root`; else 0
    uint64_t peak_resident_bytes = 0; // and of what is resident now: its own, and segments that others may share
    uint64_t anonymous_bytes = 0, shared_bytes = 0;
    bool found_switches = false;
};

// The name may hold blanks and parentheses. `ticks_per_second`: sysconf(_SC_CLK_TCK).
std::optional<TaskStat> parse_task_stat(std::string_view text, uint64_t ticks_per_second);
std::optional<TaskScheduling> parse_task_scheduling(std::string_view text);
TaskStatus parse_task_status(std::string_view text);

// se.nr_migrations of PID/sched; nothing if the kernel has no such file (CONFIG_SCHED_DEBUG).
std::optional<uint64_t> parse_migrations(std::string_view text);

// Nothing if the task is gone or /proc is not there.
std::optional<TaskStat> read_task_stat(const std::string& root, uint32_t pid, uint32_t tid);
std::optional<TaskStat> read_process_stat(const std::string& root, uint32_t pid); // times of all its threads, ended ones too
std::optional<TaskScheduling> read_task_scheduling(const std::string& root, uint32_t pid, uint32_t tid);
std::optional<TaskStatus> read_task_status(const std::string& root, uint32_t pid, uint32_t tid);
std::optional<uint64_t> read_migrations(const std::string& root, uint32_t pid, uint32_t tid);

// How the process gets its memory: "default", "interleave:0-1", "prefer:0", "bind:0"; empty: not known. What single
// mappings were given is not looked at.
std::string read_memory_policy(const std::string& root, uint32_t pid);

std::vector<uint32_t> list_threads(const std::string& root, uint32_t pid);
std::vector<uint32_t> list_processes(const std::string& root);

// Inode of the PID namespace that `process` ("self" or a pid) is in; 0: not to be known.
uint64_t read_pid_namespace(const std::string& root, const std::string& process);

// Arguments separated by NUL (without the last one); empty: gone, or a kernel thread.
std::string read_command_line(const std::string& root, uint32_t pid);

} // namespace plumb::platform
