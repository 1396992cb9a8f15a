// The regions of one model::Process under construction: pairs of begin and end become one row for each name.
#pragma once

#include "model/run.h"
#include "trace/builders/region_samples.h"
#include "trace/context/allowance.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class RegionBuilder {
  public:
    explicit RegionBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // In the order of each thread. An end without a begin is left out; a begin inside the same region is another
    // entry of it. Regions of one thread may overlap; an end belongs to one of the latest 1024 that are open.
    void take(const std::string& name, bool begins, uint32_t thread, uint64_t time_ns, Allowance& allowance);

    // A sample of a counted event, by when it was taken.
    void take_sample(const std::string& event, uint32_t thread, uint64_t time_ns, Allowance& allowance);

    // Regions that were not left end with their thread (whose end must be known) and are counted as open.
    void finish();

  private:
    struct Entry {
        uint32_t region;
        uint64_t begin_ns;
    };
    void leave(const Entry& entry, uint32_t thread, uint64_t end_ns);

    model::Process& process_;
    std::unordered_map<std::string, uint32_t> regions_;            // by name, index into Process::regions
    std::unordered_map<uint32_t, std::vector<Entry>> open_;         // by thread
    std::unordered_map<uint64_t, char> threads_seen_;               // by region and thread
    std::vector<RegionSpan> spans_;                                 // that have ended
    RegionSamples samples_;
};

} // namespace plumb::trace
