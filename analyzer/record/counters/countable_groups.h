// The groups of events that can be counted here, opened for a program, and why others cannot. Not thread-safe.
#pragma once

#include "platform/machine_cache.h"
#include "record/counters/counter_group.h"
#include "record/counters/self_test.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

struct CountableGroup {
    std::unique_ptr<CounterGroup> group;
    std::vector<const CounterEvent*> events;
    uint32_t number = 0; // in the trace
    bool by_papi = false;
};

class CountableGroups {
    std::vector<std::unique_ptr<CounterSource>> sources_; // outlive their groups

  public:
    // For `pid`, which has not yet exec'd its program. What works here is tested now, or known from an earlier run; what does not is in
    // `refused`.
    CountableGroups(platform::MachineCache& cache, int pid);

    std::vector<CountableGroup> hardware, software;
    std::set<std::string> believed;                           // events of the hardware that count
    std::vector<std::pair<std::string, std::string>> refused; // event, "source: why"
    std::vector<std::string> used;                            // names of sources
    std::string software_why;                                 // what of the kernel's events is refused
    bool no_counters = false, forbidden = false, no_papi = false;

  private:
    void add_hardware(const std::vector<int>& allowed, int error); // of opening a counter; 0: none
    void add_software(const std::vector<int>& allowed);
    void open(CounterSource& source, const TestedGroup& tested, bool by_papi);
    void note(const CounterSource& source, const TestedGroup& tested);
    std::vector<TestedGroup> tested_groups(CounterSource& source, const std::string& kept_as, std::pair<int, int> cpus);

    platform::MachineCache& cache_;
    const int pid_;
};

} // namespace plumb::record
