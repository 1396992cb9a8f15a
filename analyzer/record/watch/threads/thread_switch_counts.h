// How often and how long each thread of the run is off its CPU, exactly, from the kernel's records of switches: added up as they
// come (ThreadSwitches records). Whether it left by itself or was preempted is the kernel's word; the time from waking up to
// running is part of the interval.
//
// The records cost the program about a microsecond each and fill its rings. They are stopped for the rest of the run when
// they cost more than a share of its CPU time, and when any of them was lost: samples share their rings.
#pragma once

#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace plumb::record {

class ThreadSwitchCounts {
  public:
    // `share`: of the run's CPU time that the records may cost.
    ThreadSwitchCounts(NodeTraceWriter& file, double share) : file_(file), share_(share) {}

    void take(const PerfRecord& record); // in the order of time; ignores what it does not need

    // Where a thread stood at one moment, known once the records of what came after it are taken.
    struct Stood {
        bool on = false, preempted = false; // neither: it was blocked, or had been woken and waited for a CPU
        uint64_t since_ns = 0, until_ns = 0; // of that; until_ns 0: it still goes on
        uint64_t unblocked_ns = 0;           // when it last got a CPU after it had been blocked; 0: not seen
    };
    // Asks for all threads at `time_ns`, later than the moment before; then at_mark() answers until the next question.
    void mark(uint64_t time_ns) { mark_ns_ = time_ns; }
    std::optional<Stood> at_mark(uint32_t tid) const; // nothing: it is not known

    // Once a tick. `run_ns`: CPU time of the run so far; `lost`: records that found no room so far.
    void look(uint64_t now_ns, uint64_t run_ns, uint64_t lost);

    // Nothing further comes, and should come: `look` found them too many.
    bool is_stopped() const { return why_ != Why::goes_on; }
    void stop(); // what is known ends with the latest record of each thread

    void write_evidence(); // once, at the end

    uint64_t records() const { return records_; }
    uint64_t cost_in_program_ns() const; // estimated

  private:
    enum class State : uint8_t { unknown, on, blocked, preempted };
    enum class Why : uint8_t { goes_on, cost, lost };
    struct Thread {
        uint32_t pid = 0;
        State state = State::unknown;
        uint64_t since_ns = 0; // of the state; 0: nothing is known yet
        uint64_t unblocked_ns = 0;
        trace::ThreadSwitches counts{};
        trace::ThreadSwitches* record = nullptr;
        bool changed = false;
        uint64_t marked_ns = 0; // the mark that `stood` answers for
        Stood stood;
        bool stood_known = false;
    };
    void keep_mark(Thread& thread, uint64_t time_ns) const;
    void begin(uint32_t tid, uint32_t pid, State state, uint64_t time_ns);
    void to(Thread& thread, State next, uint64_t time_ns);
    void write(uint32_t tid, Thread& thread);

    NodeTraceWriter& file_;
    const double share_;
    std::unordered_map<uint32_t, Thread> threads_; // living, by tid
    uint64_t records_ = 0, lost_ = 0, mark_ns_ = 0;
    Why why_ = Why::goes_on;
    bool stopped_ = false;
};

} // namespace plumb::record
