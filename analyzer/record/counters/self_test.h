// Which events can be believed here: each is opened as it will be for the program, over work whose counts are known.
#pragma once

#include "record/counters/counter_group.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

struct RefusedEvent {
    std::string event, why;
};

struct TestedGroup {
    std::string name;
    std::vector<const CounterEvent*> events; // that were counted right, together
    std::vector<RefusedEvent> refused;
    bool is_lasting = true; // it would come out the same the next time: nobody else used the counters
};

// Tests the events of `plan` that `source` knows. `cpus`: see KnownWork.
TestedGroup test_group(CounterSource& source, const CounterGroupPlan& plan, std::pair<int, int> cpus);

// The groups as text and back, for who keeps them. Lines; what is malformed is no group.
std::string format_groups(const std::vector<TestedGroup>& groups);
std::vector<TestedGroup> parse_groups(const std::string& text);

} // namespace plumb::record
