// Which samples of counted events were taken inside which region of one model::Process under construction.
#pragma once

#include "model/run.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb::trace {

// From begin to end of one entry; `region` and `thread` are indexes into Process::regions and Process::threads.
struct RegionSpan {
    uint32_t region = 0, thread = 0;
    uint64_t begin_ns = 0, end_ns = 0;
};

class RegionSamples {
  public:
    void add(const std::string& event, uint32_t thread, uint64_t time_ns);

    // Fills Process::counter_samples and those of its regions. A sample counts for all regions that its thread was in, once for
    // each. A thread that enters none works for the first thread of the process, as a team of OpenMP does: its samples count for
    // the regions which that one is in.
    void count(std::vector<RegionSpan> spans, model::Process& process) const;

  private:
    std::map<std::string, std::vector<std::pair<uint32_t, uint64_t>>> samples_; // thread and time, by event
};

} // namespace plumb::trace
