// Page faults of a process tree with the address that was touched, from perf events: which code made which thread the
// first to touch a page. One fault of many is seen: of small objects perhaps none.
#pragma once

#include "record/perf/event_rings.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb::record {

class FaultSampler {
  public:
    enum class Faults {
        all,  // one of many, with the top of the stack
        few,  // the same of ten times as many, for who asks only where most of them are
        major // those that read from a disk, all of them: a sample takes 1 us, a read from a disk much longer
    };

    // Opens the events for `pid`, which has not yet exec'd its program, on `cpus`; sampling begins with that exec.
    // On failure works() is false and the reason is in words.
    FaultSampler(int pid, const std::vector<int>& cpus, Faults faults = Faults::all);

    bool works() const { return rings_.works(); }
    const std::string& why() const { return why_; }
    const std::vector<PerfRing>& rings() const { return rings_.rings(); } // for poll: readable from half full on

    // As EventRings::drain().
    void drain(const std::function<void(const PerfRecord&)>& take, bool all);

  private:
    EventRings rings_;
    uint64_t faults_per_sample_ = 1;
    std::string why_;
};

} // namespace plumb::record
