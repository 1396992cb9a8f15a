// What-ifs: one thing less in a machine's noise, or the job placed in another way.
#pragma once

#include "model/noise.h"
#include "simulate/job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::simulate {

struct Change {
    enum class Kind {
        without_class, // `name`
        without_group, // all classes of the group `name`
        without_nodes, // the job runs on as many nodes, but on no node n with n % every == offset
        without_node,  // the job runs on as many nodes, but not on node `offset`
        spare_cpu,     // one rank a node less; the others do its work, too
        coschedule     // the events of each class happen at the same moment everywhere
    };
    Kind kind = Kind::without_class;
    std::string name;
    uint32_t every = 0, offset = 0;

    std::string label() const; // "without heartbeat", "one CPU a node spare"
};

struct Setting {
    Job job;
    model::NoiseMachine machine;
};

// Of --without: the name of a class, group=NAME or daemon=NAME, node=K/N, or node=K. Throws UsageError: no such class or group,
// with what there is; K not below N; anything else.
Change parse_without(const std::string& text, const model::NoiseMachine& machine);

// Every class and group and every set of nodes that has classes of its own. A group of one class is that class.
std::vector<Change> all_removals(const model::NoiseMachine& machine);

// Throws UsageError where the change cannot be made: no node would be left, the job does not run on the node, no rank would be
// left on a node, a CPU is spare.
Setting changed(Setting setting, const Change& change);
Setting changed(Setting setting, const std::vector<Change>& changes);

// The same job on `factor` times as many ranks and nodes. Throws UsageError: more ranks than can be simulated.
Job scaled(Job job, uint32_t factor);

} // namespace plumb::simulate
