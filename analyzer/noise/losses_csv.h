// A table of measured losses, of plumb or of any other measurement:
//
//   # measured_s=100         optional, before the table: seconds measured on each CPU, nodes, cpus_per_node, and the length
//   # nodes=1024             below which losses were left out (least_s)
//   node,cpu,time_s,loss_s   in any order; other columns are passed over; times in _s, _ms, _us or _ns
//   0,3,0.129,0.00064        since the measurement began on that node; how long the CPU was lost
//
// Rows may be in any order.
#pragma once

#include "model/noise.h"

#include <iosfwd>
#include <string>

namespace plumb::noise {

struct LossesTable {
    model::NoiseLosses losses;
    // What the file does not say and is therefore taken from its rows: the end of the last loss, the highest node number, the
    // number of different CPUs, the shortest loss.
    bool measured_is_derived = false, nodes_are_derived = false, cpus_are_derived = false, least_is_derived = false;
    uint64_t silent_nodes = 0, silent_cpus = 0; // without a single loss: quiet, or not measured. The CPUs: of the other nodes
};

// Throw Error, naming the file, the line and what is wrong with it: what is no such table, values that cannot be meant, losses
// of one CPU that overlap, more than 16 million of them.
LossesTable read_losses_table(const std::string& path);
LossesTable parse_losses_table(std::istream& text, const std::string& path);

model::NoiseLosses read_losses_csv(const std::string& path); // the losses alone

} // namespace plumb::noise
