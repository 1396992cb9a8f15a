// What of one run of a sweep is compared with the runs of other points.
#pragma once

#include "analysis/report.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace plumb::scale {

struct NotedFinding {
    std::string id, title;
    double gain = 0;
    std::vector<Location> where;
};

struct RunFacts {
    double time_s = 0;            // from the first process to the end of the last; of copies, the mean time of one
    std::vector<double> copies_s; // of a run of copies, in the order of their start
    // Of the whole run; of copies, for each of them: thread time, and what it is made of. The time account by its classes in
    // words, and the place with the most of each; CPU time by source line and by library.
    double thread_s = 0, cpu_s = 0;
    std::map<std::string, double> classes_s, lines_s, libraries_s;
    std::map<std::string, std::string> class_places; // "function at file:line", as the names of lines
    std::optional<BandwidthSummary> bandwidth;       // of loops over large arrays
    std::vector<NotedFinding> findings;              // by gain, the largest first
    size_t threads = 0; // of the process with the most: whether a shell that starts it was met depends on chance
};

// "function at file:line", the file without its folders; "function in module" without debug information.
std::string place_of(const model::SourceFrame& frame);

// `copies`: so many were started; 0: the run is one program.
RunFacts facts_of(const Report& report, size_t copies);

} // namespace plumb::scale
