// When and where each thread of the run lost its CPU though it could have gone on, and to whom, from the kernel's records of
// switches (Preemption records). The kernel reports switches of the run's own threads alone: whether one of them, or the
// recorder, had the CPU meanwhile is known; which other program had it is not.
#pragma once

#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace plumb::record {

class Preemptions {
  public:
    explicit Preemptions(NodeTraceWriter& file) : file_(file) {}

    void take(const PerfRecord& record); // in the order of time; ignores what it does not need

    // This process ran from `begin_ns` to `end_ns`, and was on `cpu` at the end. In the order of time, and before the records of
    // that time are taken, or as soon as the recorder can.
    void recorder_ran(int cpu, uint64_t begin_ns, uint64_t end_ns);

    void stop() { stopped_ = true; } // nothing further comes

  private:
    struct Lost { // a CPU
        uint32_t pid = 0;
        int cpu = -1;
        uint64_t since_ns = 0;
    };
    struct Stay { // of a thread on a CPU
        uint32_t tid = 0;
        uint64_t begin_ns = 0, end_ns = 0;
    };
    struct Cpu {
        static constexpr size_t kStays = 128;
        std::array<Stay, kStays> stays{}; // a ring of the latest
        size_t next = 0;
        uint32_t tid = 0; // on it now, 0: none of the run
        uint64_t since_ns = 0;
    };
    void leave(int cpu, uint32_t tid, uint64_t time_ns);
    void write(uint32_t tid, const Lost& lost, uint64_t end_ns);
    uint32_t taker(const Lost& lost, uint64_t end_ns, uint32_t but_tid) const;
    bool by_recorder(const Lost& lost, uint64_t end_ns) const;

    NodeTraceWriter& file_;
    std::unordered_map<uint32_t, Lost> lost_; // by tid
    std::unordered_map<int, Cpu> cpus_;
    std::unordered_map<uint32_t, uint32_t> written_; // records by pid
    struct Ran {
        int cpu;
        uint64_t begin_ns, end_ns;
    };
    std::deque<Ran> recorder_; // by time, the latest
    bool stopped_ = false;
};

} // namespace plumb::record
