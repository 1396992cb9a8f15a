// Cache lines that several threads use at the same time, of which at least one writes: by line, thread, instruction and
// bytes, how often one thread was sampled there after another one on another CPU, and whether they used the same bytes.
// When the program has ended, what such an access costs on this machine when the line is contended, and when it is not
// (SharedLine, LineUse and LineTransfer records).
#pragma once

#include "record/access/sampling/access_sampling.h"
#include "record/calibrate/calibration.h"
#include "record/calibrate/known_line_transfers.h"
#include "record/run/node_trace_writer.h"

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::record {

class LineSharing {
  public:
    // `line_bytes`: of the machine, a power of two.
    explicit LineSharing(uint32_t line_bytes) : line_bytes_(line_bytes) {}

    // An access that was sampled; `path`: where the call-path tree has the sample. About 0.1 us, and next to nothing as
    // long as a process has shown one thread only.
    void take(const SampledAccess& access, trace::NodeId path);

    // Any time sample, with an address or not, before take() of the same: tells who runs at the same time, and how much of
    // a thread's time the shared lines take.
    void count(uint32_t pid, uint32_t tid, int cpu, uint64_t time_ns, uint64_t weight_ns);

    void forget(uint32_t pid); // it ended: nothing more can come

    // Measures and appends what is worth it. Once, when the program has ended: takes some tens of milliseconds, and nothing
    // where no line is shared.
    void write(NodeTraceWriter& file, Calibration& calibration);

  private:
    // One thread's way to use some bytes of a line.
    struct Use {
        uint64_t instruction = 0, base_value = 0;
        uint64_t bytes = 0;   // a bit each; of long lines one for several
        uint64_t visits = 0;  // samples, and those that tell of the use without having waited for it
        uint64_t samples = 0, time_ns = 0;
        uint64_t shared_ns = 0; // of the time: while other threads were there, too, and not merely waiting for a value
        uint64_t polled_ns = 0; // of the time: waiting for another value
        uint64_t same = 0, other = 0; // handovers to it, see Line
        uint64_t first_ns = 0, last_ns = 0;
        uint32_t tid = 0;
        trace::NodeId path = 0;
        uint16_t offset = 0, width = 0, flags = 0;
        uint8_t length = 0;
        std::array<uint8_t, 15> code{};
    };
    struct Part { // of what one thread does to a line
        uint64_t all = 0, there = 0;                   // visits of the line, and of certain bytes
        bool writes = false, writes_there = false;
        bool matters() const { return there * 10 >= all && there > 0; }
    };
    struct Visit { // who was seen last
        uint32_t tid = 0;
        int cpu = -1;
        uint64_t time_ns = 0;
        uint64_t bytes = 0;
        bool writes = false;
    };
    struct Line {
        uint64_t samples = 0, time_ns = 0;
        uint64_t pairs = 0;     // samples that followed another one
        uint64_t handovers = 0; // of them, those by another thread on another CPU
        uint64_t close_pairs = 0, close_handovers = 0; // a short time after it
        uint64_t same = 0, other = 0; // handovers of threads that run, one of which writes what the other uses, or other bytes
        uint64_t same_slices = 0, other_slices = 0; // of the run's time, a bit each, with such handovers
        uint64_t slice_ns = 0;
        uint64_t first_ns = 0;
        uint64_t last_handover_ns = 0; // of `same` and `other`
        Visit last;
        std::vector<Use> uses;
        Part part_of(uint32_t tid, uint64_t bytes) const;
    };
    struct Neighbourhood { // a page
        Visit last;
        uint64_t last_handover_ns = 0;
    };
    struct Activity { // of a thread
        uint64_t sampled_ns = 0, last_ns = 0;
        int cpu = -1;
    };
    struct Traced {
        uint64_t generation = 0, origin_ns = 0, slice_ns = 0;
        uint32_t first_tid = 0;
        bool threaded = false;
        std::unordered_map<uint64_t, Line> lines;          // by address
        std::unordered_map<uint32_t, Activity> threads;    // by id, since there are several
        std::unordered_map<uint64_t, Neighbourhood> pages; // by address
    };
    struct Candidate {
        uint32_t pid;
        uint64_t address;
        Line line;
        uint64_t thread_ns; // of all samples of the threads that use it
    };
    struct Place { // what was accessed
        uint64_t instruction, address, base_value;
        uint16_t width, flags;
        uint8_t length;
        bool polls;
        const std::array<uint8_t, 15>& code;
        bool writes() const { return flags & trace::kAlignStore; }
    };
    Line* line_at(Traced& process, uint64_t address);
    static bool runs_beside(const Traced& process, const SampledAccess& access, uint32_t tid);
    static bool is_opposed(const Traced& process, const SampledAccess& access, const Line& line);
    bool is_contended(const Traced& process, uint64_t address) const;
    void touch(Traced& process, const SampledAccess& access, const Place& place, trace::NodeId path, uint64_t weight_ns);
    uint64_t bytes_of(uint64_t address, uint16_t width) const;
    Use* use_for(Line& line, const SampledAccess& access, const Place& place, uint16_t offset, trace::NodeId path);
    static uint64_t* slices_now(Traced& process, Line& line, bool same, uint64_t time_ns, unsigned& bit);
    void make_room(Traced& process);
    void judge(uint32_t pid, Traced& process);
    void write_line(NodeTraceWriter& file, const Candidate& candidate) const;
    LineAccesses what_to_time() const;

    const uint32_t line_bytes_;
    std::unordered_map<uint32_t, Traced> processes_; // by pid
    std::vector<Candidate> candidates_;
    std::map<std::pair<int, int>, uint64_t> cpu_pairs_; // handovers between two CPUs
    size_t lines_ = 0;                                  // of all processes
    uint64_t total_ns_ = 0;                             // of all accesses that were taken
};

} // namespace plumb::record
