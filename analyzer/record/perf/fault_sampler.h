// Page faults of a process tree with the address that was touched, from perf events: which code made which thread the
// first to touch a page. One fault of many is seen: of small objects perhaps none.
#pragma once

#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb::record {

class FaultSampler {
  public:
    enum class Faults {
        all,  // one of many, with the top of the stack
        major // those that read from a disk, all of them: a sample takes 1 us, a read from a disk much longer
    };

    // Opens the events for `pid`, which has not yet exec'd its program, on `cpus`; sampling begins with that exec.
    // On failure works() is false and the reason is in words.
    FaultSampler(int pid, const std::vector<int>& cpus, Faults faults = Faults::all);

    bool works() const { return !rings_.empty(); }
    const std::string& why() const { return why_; }
    const std::vector<PerfRing>& rings() const { return rings_; } // for poll: readable from half full on

    // Hands out the faults that were read at the last call, so that whoever looks at the processes at the same rhythm
    // knows them by now; `all`: those of this moment as well.
    void drain(const std::function<void(const PerfRecord&)>& take, bool all);

  private:
    void hand_out(const std::function<void(const PerfRecord&)>& take);

    std::vector<PerfRing> rings_;
    std::vector<char> bytes_; // read and not yet handed out
    uint64_t fields_ = 0, faults_per_sample_ = 1;
    unsigned register_count_ = 0;
    std::string why_;
};

} // namespace plumb::record
