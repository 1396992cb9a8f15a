// The commands of a sweep: one for each point, as plumb repeat takes them in turns.
#pragma once

#include "repeat/series.h"
#include "scale/axis.h"

#include <string>
#include <vector>

namespace plumb::scale {

struct AskedPoints { // what the user said; at most one list is set
    std::string threads = {}, ranks = {}, copies = {}, size = {};
};

struct Sweep {
    Axis axis = Axis::threads;
    std::vector<PointValue> points;
    std::vector<repeat::SeriesCommand> commands; // of the points, in their order
    bool is_by_environment = false;              // the number of threads is set as OMP_NUM_THREADS, not in the command
};

// The axis is that of the list, else that whose placeholder the command holds, else threads by OMP_NUM_THREADS. `cpus`: what
// the runs may use. `prepare`: what is done before each run, which may hold placeholders as the command does, or instead of it.
// Throws Error: two placeholders, or a list without its placeholder, or a size without a list.
Sweep sweep_of(const std::vector<std::string>& words, const AskedPoints& asked, size_t cpus, const std::string& prepare = "");

// A command that starts `count` copies at once and waits for them all. It fails as the last one that fails does. One recorder
// then sees all copies: who shares a CPU with whom, and its own cost is the same for one copy and for many.
std::vector<std::string> copies_command(const std::vector<std::string>& words, size_t count);

} // namespace plumb::scale
