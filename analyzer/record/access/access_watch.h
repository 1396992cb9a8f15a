// What becomes of the memory accesses that time samples show: each goes to everyone who looks for a pattern among them
// (strides, pages, lines that threads share, traffic). The order of things at the end of a run is kept here, too.
#pragma once

#include "record/access/replay/loop_moments.h"
#include "record/access/sampling/access_sampling.h"
#include "record/access/sharing/line_sharing.h"
#include "record/access/sharing/spin_loops.h"
#include "record/access/traffic/traffic_sampling.h"
#include "record/access/walks/access_strides.h"
#include "record/access/walks/page_scatter.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plumb::record {

class AccessWatch {
  public:
    // `budget`: of the run's time for all of recording. `bandwidth`: whether traffic is measured, which takes bursts of
    // samples now and then. Loads the decoder.
    AccessWatch(NodeTraceWriter& file, ProcessTable& processes, unwind::StackUnwinder& images, double budget, bool bandwidth,
                uint64_t begin_ns);

    bool works() const { return accesses_.works(); }
    const std::string& why() const { return accesses_.why(); } // in words, when it does not

    // A sample that stands for `weight_ns` of CPU time; `path`: where the call-path tree has it; `chain`: outermost frame first.
    // Returns its access, if its registers tell one.
    std::optional<SampledAccess> take(const PerfRecord& sample, trace::NodeId path, std::span<const CallChain::Step> chain,
                                      uint64_t weight_ns);

    void look(uint64_t now_ns); // at what must be read while the processes live; once a tick

    // Bursts of samples beside the usual ones: begins one or ends the one under way, when it is time to.
    bool burst_is_due(uint64_t now_ns) const { return next_burst_ns() <= now_ns; }
    uint64_t next_burst_ns() const { return traffic_ ? traffic_->next_ns() : UINT64_MAX; }
    void look_at_burst(uint64_t now_ns);
    uint64_t burst_samples() const { return traffic_ ? traffic_->samples() : 0; } // they cost the target as others do

    void forget(uint32_t pid); // it ended: nothing more can come

    bool saw_line_crossings() const { return accesses_.line_crossings() > 0; }

    // What became of it, for the report's evidence; then times, on this machine, what was found. Both once, when the
    // program has ended; the second takes some seconds at most, and nothing where nothing was found. `sharers`:
    // recorders on this machine, which may do so at the same time.
    void write_evidence(NodeTraceWriter& file) const { accesses_.write_evidence(file); }
    void write(NodeTraceWriter& file, uint64_t sharers, Calibration& calibration);

  private:
    void write_replays(NodeTraceWriter& file, Calibration& calibration);

    AccessSampling accesses_;
    AccessStrides strides_;
    LoopMoments loops_;
    SpinLoops spinning_;
    LineSharing sharing_;
    PageScatter scatter_;
    std::optional<TrafficSampling> traffic_;
};

} // namespace plumb::record
