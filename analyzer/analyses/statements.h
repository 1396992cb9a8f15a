// What findings and the analyses before them are said with: a value, a cost, a line of the program, the thing that it is
// about, what to do.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace plumb {

using Value = std::variant<bool, int64_t, double, std::string, std::vector<std::string>, std::vector<int64_t>>;

struct Cost {
    double seconds = 0;  // of wall time
    double fraction = 0; // of the run, 0..1
    std::string how = "estimated"; // "measured", "estimated" or "bound"
};

struct Location {
    std::string file, function, module;
    uint32_t line = 0;   // 0: unknown
    double share = 0;    // of the finding's cost, 0..1
    std::string inlined_from; // "file:line" of the call that was inlined, may be empty
};

struct Subject {
    std::string kind; // variable, allocation, call-site, cpu, thread, rank, ranks, node, daemon, device, communicator, library
    std::string name;
    std::map<std::string, Value> details;
};

struct Advice {
    std::string what, how;
    std::string applies; // launch, code or system
    std::string command; // ready to paste, may be empty
};

} // namespace plumb
