// What happened, as far as it was recorded: plain data, built by trace/build_run.h from the trace files, read by
// diagnoses and reports. Nothing here knows files, symbols or formats. Times: nanoseconds of the host's
// CLOCK_MONOTONIC; CPU numbers are the operating system's.
#pragma once

#include "model/alignment.h"
#include "model/blocked.h"
#include "model/counters.h"
#include "model/measured_noise.h"
#include "model/memory.h"
#include "model/memory_bandwidth.h"
#include "model/mpi.h"
#include "model/mpi_job.h"
#include "model/openmp.h"
#include "model/packed_loop.h"
#include "model/page_scatter.h"
#include "model/shared_line.h"
#include "model/strided_walk.h"
#include "model/topology.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace plumb::model {

using CpuSet = std::vector<int>; // sorted

struct Module {
    enum class Kind { program, library, vdso, anonymous, kernel };
    Kind kind = Kind::library;
    std::string path; // "" for anonymous code
    std::string build_id; // lower-case hex, may be empty
    uint64_t start = 0, end = 0, file_offset = 0;
    uint64_t loaded_ns = 0, unloaded_ns = UINT64_MAX;
    bool deleted = false;
    uint32_t pid = 0; // who loaded it; set by CallPaths for anonymous code, whose names are kept by process
};

// The call-path tree of one process; index 0 is the root above all outermost frames.
struct PathNode {
    uint32_t parent = 0;
    uint64_t address = 0;
    bool leaf = false;      // a sampled instruction, not a return address
    bool kernel = false;
    bool truncated = false; // callers above it are unknown
};

struct SampleSite {
    uint32_t thread = 0; // index into Process::threads
    uint32_t path = 0;   // index into Process::paths
    uint64_t samples = 0;
    uint64_t time_ns = 0;
    uint64_t kernel_samples = 0;
    uint64_t last_ns = 0;
    uint64_t alone_ns = 0; // of time_ns, while no other thread of the process was on a CPU or preempted
};

struct ThreadInterval {
    uint64_t begin_ns = 0, end_ns = 0;
    int cpu = -1; // last CPU it ran on
    uint64_t run_ns = 0, run_delay_ns = 0;
    uint32_t migrations = 0;
    char state = '?';
};

// It could have gone on, and had no CPU.
struct Preemption {
    uint64_t begin_ns = 0, end_ns = 0;
    int cpu = -1;       // that it lost
    uint32_t taker = 0; // tid of the thread of the run that had it meanwhile; 0: none of the run
    bool by_recorder = false;
};

struct Placement {
    uint32_t slot = 0;
    int cpu = -1;
    int memory_node = -1;
    int error = 0;
};

struct Thread {
    uint32_t tid = 0;
    std::string name;
    uint64_t start_ns = 0, end_ns = 0;
    uint64_t run_ns = 0, run_delay_ns = 0, user_ns = 0, system_ns = 0;
    uint64_t wall_running_ns = 0; // of the run's wall time, what depended on this thread while it ran or waited for a CPU
    uint64_t wall_no_cpu_ns = 0;  // of it, while it waited for a CPU
    uint64_t wall_unseen_ns = 0;  // of it, blocked for too short to be looked at: where is not known
    ThreadSwitches switches;      // zero: not recorded
    uint64_t voluntary_switches = 0, involuntary_switches = 0;
    uint64_t migrations = 0;
    bool migrations_exact = false;
    uint64_t minor_faults = 0, major_faults = 0;
    CpuSet allowed_cpus; // empty: unknown
    uint32_t creation_path = 0;
    uint64_t start_routine = 0;
    std::optional<Placement> placement;
    std::vector<ThreadInterval> intervals; // by time
    std::vector<Preemption> preemptions;   // by time; the short ones may be missing: switches has the sum of all

    // Of wall_running_ns, while it was on a CPU.
    uint64_t wall_on_cpu_ns() const { return wall_running_ns - wall_no_cpu_ns - wall_unseen_ns; }
};

struct HeapSite {
    uint32_t path = 0; // index into Process::paths
    uint64_t allocations = 0, allocated_bytes = 0, frees = 0, freed_bytes = 0;
    uint64_t temporary = 0, peak_live_bytes = 0, samples = 0, lock_wait_ns = 0;
    uint64_t first_ns = 0, last_ns = 0; // of its sampled allocations
};

struct Heap {
    bool recorded = false;
    bool every_event = false; // full mode: counts are exact
    uint64_t allocations = 0, allocated_bytes = 0, frees = 0, reallocations = 0, failed = 0; // exact in both modes
    uint64_t size_histogram[32] = {};
    std::vector<HeapSite> sites; // merged over threads
};

// What the program named through the public API, all threads together.
struct Region {
    std::string name;
    uint64_t entries = 0;
    uint64_t time_ns = 0, longest_ns = 0; // wall time between begin and end, summed over threads and entries
    uint32_t threads = 0;
    uint64_t open = 0; // of the entries: never left, they end with their thread
    std::vector<CounterSamples> counter_samples; // of Process::counter_samples, those within
};

struct Process {
    uint32_t pid = 0, parent_pid = 0; // as it knows them itself, where that is known
    uint64_t pid_namespace = 0;       // which the pid is of, 0: not known; containers use the same pids
    std::string host;
    std::string executable, name;
    std::vector<std::string> arguments;
    int rank = -1, rank_count = -1, local_rank = -1;
    uint64_t start_ns = 0, end_ns = 0;
    bool end_seen = false; // else end_ns is its last sign of life
    std::optional<int> wait_status;
    bool has_shim = false;    // the shim recorded inside
    bool shim_closed = false; // and ended its file itself (false: killed, or still running)
    uint32_t ending_tid = 0;  // of the thread that did: it called exit(), or returned from main(); 0: none, or not known
    bool is_static = false, is_foreign = false, is_privileged = false, is_dormant = false;
    uint64_t max_rss_bytes = 0;
    uint64_t read_calls = 0, read_bytes = 0, write_calls = 0, write_bytes = 0; // ended children included; 0: not known
    std::vector<Module> modules;
    std::vector<PathNode> paths;
    std::vector<Thread> threads;
    std::vector<SampleSite> samples;
    std::vector<CounterSite> counter_sites;
    std::vector<CounterSamples> counter_samples; // of known time
    std::vector<BlockedSite> blocked;
    std::vector<LockHolder> lock_holders;
    std::vector<PageRead> page_reads;
    ThreadsActive threads_active;
    Goroutines goroutines; // of a Go program
    std::vector<SpinLoop> spin_loops; // by address
    std::vector<WaitedFor> waited_for;
    Heap heap;
    std::vector<Region> regions; // by first entry
    Alignment alignment;
    std::vector<SampledAccess> sampled_accesses;
    Memory memory;
    std::vector<StridedWalk> strided_walks; // by time, the most first
    std::vector<ReplayedAccess> replayed_accesses; // those of a loop follow one another
    std::vector<PackedLoop> packed_loops;
    std::vector<SharedLine> shared_lines; // by time, the most first
    std::vector<PageScatter> page_scatters; // by time on small pages, the most first
    std::vector<StreamingLoop> streaming_loops;
    std::optional<MpiProcess> mpi; // it is a rank of an MPI job
    std::optional<OpenMp> openmp;  // it has parallel regions of OpenMP
    uint64_t own_cost_ns = 0; // time the shim knows it took from this process
    uint32_t shim_loads = 0;  // programs of this process that loaded the shim
};

struct CpuInterval {
    int cpu = 0;
    bool allowed = false;
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t user_ns = 0, system_ns = 0, idle_ns = 0, interrupt_ns = 0, steal_ns = 0;
    uint64_t run_own_ns = 0;
};

struct OtherProcess {
    struct Activity { // between two looks
        uint64_t begin_ns = 0, end_ns = 0, cpu_ns = 0;
        int cpu = -1; // on which it ran last
    };
    uint32_t pid = 0;
    std::string name;
    int last_cpu = -1;
    uint64_t cpu_ns = 0;
    uint64_t first_ns = 0, last_ns = 0;
    CpuSet allowed_cpus;
    uint32_t user_id = 0;
    std::vector<Activity> activities; // by time; those of processes that used little may be missing
    bool leaves_cpus = false; // its priority is so low that it hardly takes CPU time that the run wants
};

struct NodeMemory {
    int node = 0;
    uint64_t time_ns = 0;
    uint64_t total_bytes = 0, free_bytes = 0, file_bytes = 0, anonymous_bytes = 0;
    uint64_t local_allocations = 0, missed_allocations = 0, foreign_allocations = 0;
    uint64_t reclaimable_bytes = 0; // of file_bytes, what gives way when memory is needed; 0 in old records
};

struct InterruptSource {
    std::string name;
    int cpu = 0;
    uint64_t count = 0;
};

struct Host {
    std::string name;
    uint64_t machine = 0; // of its kernel since it booted: several names of one (containers) have one clock; 0: not known
    int cpu_count = 0;
    CpuSet allowed_cpus; // what the run may use
    Topology topology;
    std::vector<CpuInterval> cpu_intervals; // by time, then CPU
    std::vector<OtherProcess> others;
    std::vector<NumaNode> nodes; // by number; empty: not asked, since all memory is in one place
    std::vector<NodeMemory> memory;
    std::vector<InterruptSource> interrupts;
    MeasuredNoise noise; // by plumb noise
    std::vector<EventCount> event_counts;
    std::vector<CounterSlice> counters; // by beginning
    std::optional<AccessPenalties> access_penalties;
    std::optional<LineTransfer> line_transfer; // only where threads share cache lines
    HugePages huge_pages; // only where accesses scatter over pages
    std::vector<BandwidthRoof> bandwidth_roofs; // only where loops stream through memory; the commonest mix first
    uint64_t recorder_cpu_ns = 0, lost_samples = 0, samples = 0, sample_cost_ns = 0, sample_period_ns = 0;
    uint64_t start_up_ns = 0, throttled_ns = 0;
    uint64_t load_cost_ns = 0;     // estimated, of each program that loads the shim; 0: not known
    uint64_t switches_cost_ns = 0; // estimated, in the programs, of the kernel's records of switches
};

struct Evidence {
    enum class State { ok, limited, missing };
    std::string source;
    State state = State::ok;
    std::string why, enable;
};

struct Run {
    std::string directory;
    bool of_machine = false; // by plumb system: what ran on the machine, whoever started it
    bool redacted = false; // recorded without arguments, host names and folders
    std::vector<std::string> command;
    std::string plumb_version;
    uint64_t start_unix_ns = 0;
    uint64_t begin_ns = 0, end_ns = 0; // CLOCK_MONOTONIC of the first host: launch and last sign of life
    bool complete = true;              // false: plumb was killed before the end
    std::optional<int> exit_status;    // as plumb run returned it
    uint64_t recorded_bytes = 0;       // disk blocks of the run directory; of bare files what they hold
    std::vector<Host> hosts;
    std::vector<Process> processes;
    std::vector<MpiJob> mpi_jobs; // made by replay/, not by trace/
    std::vector<Evidence> evidence;
    std::vector<std::string> notes; // what the reader had to skip, in words: truncated files, dropped records

    // It measured noise: nothing was run.
    bool measured_noise() const {
        return std::ranges::any_of(hosts, [](const Host& host) { return !host.noise.cpus.empty(); });
    }
    uint64_t wall_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};

} // namespace plumb::model
