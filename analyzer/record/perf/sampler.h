// Samples a process tree from outside with perf events: one cpu-clock event a CPU, inherited by every thread and
// process that the first one starts, or where that is too much (see ring_plan.h) one for each thread. Nothing happens
// inside the target: no signal, no changed system call.
#pragma once

#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"
#include "record/perf/ring_plan.h"
#include "record/perf/thread_rings.h"
#include "record/run/options.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace plumb::record {

// How to sample here what `recorders` recorders of one job start on this node, with rings of `wanted_pages` at best.
RingPlan ring_plan_here(size_t wanted_pages, size_t recorders);

// In the place of a pid: whatever runs on the CPUs of the plan, of anybody. Takes root, CAP_PERFMON or perf_event_paranoid 0.
inline constexpr int kWholeMachine = -1;

// A ring for each of these CPUs, for that.
RingPlan ring_plan_of(const std::vector<int>& cpus);

class Sampler {
  public:
    // Opens the events for `pid`, which has not yet exec'd its program; sampling begins with that exec.
    // `recorders`: of this user on this node, which share the memory that rings may take (see ring_plan.h).
    // On failure works() is false and the reason is in words.
    Sampler(int pid, const Options& options, size_t recorders);

    // The same with another plan than that of this machine (tests).
    Sampler(int pid, const Options& options, RingPlan plan);

    bool can_pause() const { return can_pause_ && !clocks_.empty(); }
    bool works() const { return threads_ || !rings_.empty(); }
    const std::vector<int>& cpus() const { return plan_.cpus; } // that are sampled
    bool shares_memory() const { return plan_.left_bytes > 0; } // what its rings leave is for other recorders

    // By its threads: then the kernel's records may leave out some, and the recorder must look into /proc now and then,
    // and say which processes it knows.
    bool is_per_thread() const { return threads_.has_value(); }
    void look(const std::vector<uint32_t>& pids);
    uint64_t refused_threads() const { return threads_ ? threads_->refused() : 0; }
    bool sees_kernel() const { return sees_kernel_; }

    uint64_t period_ns() const { return is_slow_ ? kSlowness * period_ns_ : period_ns_; }
    uint64_t weight_ns(const PerfRecord& sample) const { return can_slow() ? sample.period : period_ns_; }

    // From now on one sample for every kSlowness of before, or all of them again. No effect where there is one clock alone:
    // the rate was asked for, rings belong to threads, or there are many CPUs.
    void set_slow(bool slow);
    uint64_t left_out() const { return left_out_; } // samples of the slow clock beside the usual one

    const std::string& why() const { return why_; }       // limited or missing: why; empty: ok
    const std::string& enable() const { return enable_; } // and what would enable it
    uint64_t throttle_count() const { return throttled_; }

    // Records that found no room in the rings since they were opened, as far as the kernel counts them (Linux 6.0).
    uint64_t lost() const;

    // For poll: readable from half full on. They may be others when the version is another one.
    const std::vector<PerfRing>& rings() const { return threads_ ? threads_->rings() : rings_; }
    uint64_t rings_version() const { return threads_ ? threads_->version() : 0; }

    // Hands out what the rings hold, ordered by time over all CPUs. Records younger than the moment of the call are
    // left for the next one, because an older one of another CPU might still come; `final` hands out all.
    // Returns the number of samples lost since the last call.
    uint64_t drain(const std::function<void(const PerfRecord&)>& take, bool final);

    // Pauses sampling and goes on with it; what processes do is reported all the same. Only where the rate and the
    // budget asked for make it likely to be needed (it takes another event a CPU); else no effect and false.
    bool enable(bool on);

    // Each time that a thread leaves a CPU or is put on one comes as a record, too. Only with rings of CPUs.
    bool sees_switches() const { return !switches_.empty() && !switches_stopped_; }
    void stop_switches(); // for good
    uint64_t lost_switches() const; // that found no room in the rings, as far as the kernel counts them (Linux 6.0)

    const perf_event_attr& attributes() const { return attributes_; } // of the samples, for who asks what they cost

  private:
    struct Pending { // in its ring
        uint64_t time_ns; // not before any that lies there before it
        PerfRing* ring;
        const perf_event_header* record;
        uint64_t end;
    };
    int open_best(int pid);
    int open_all(int pid);
    int open_threads(int pid);
    int open_rings(int pid);
    void open_switches(int pid);
    void set_ring_pages(size_t pages);
    static constexpr uint64_t kSlowness = 4;
    bool can_slow() const { return can_slow_ && !clocks_.empty(); }
    bool is_left_out(const PerfRecord& record) const;
    void explain(int error);

    perf_event_attr attributes_{};
    RingPlan plan_;
    std::optional<ThreadRings> threads_; // else:
    // Of the clock; or, if that can be slowed, of a slow clock that always runs; or, if it can be paused, of an event that only
    // carries records.
    std::vector<PerfRing> rings_;
    std::vector<PerfRing> switches_; // write into rings_
    std::vector<PerfRing> clocks_; // write into rings_; empty: rings_ are the clocks
    bool can_pause_ = false, can_slow_ = false, is_slow_ = false, switches_stopped_ = false;
    std::vector<Pending> pending_; // of one drain(); kept for its room
    unsigned register_count_ = 0;
    size_t pages_ = 0; // of a ring
    bool sees_kernel_ = true, is_of_machine_ = false;
    uint64_t period_ns_ = 0, throttled_ = 0, left_out_ = 0;
    uint64_t slow_changed_ns_ = 0; // when is_slow_ became what it is
    std::string why_, enable_;
};

} // namespace plumb::record
