// What a user can say about placement, on `plumb pin` and on `plumb run --pin`.
#pragma once

#include "placement/planner.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace plumb::placement {

enum class MemoryBinding { none, prefer, strict };

struct PinOptions {
    bool enabled = false; // set by the parser when any strategy was given
    std::string wish;     // as parse_wish() reads it
    bool absolute = false;
    int spread = 0;
    bool compact = false, scatter = false;
    std::string list;
    std::string memory; // "", "prefer" or "strict"
    int threads_per_process = 0; // 0: from OMP_NUM_THREADS and the launcher's ranks
    bool whole_cpuset = false;
    std::string topology; // XML file instead of this machine
    std::vector<std::string> skip; // glob patterns beside the built-in ones

    Wish to_wish() const; // throws plumb::Error
    MemoryBinding memory_binding() const;
};

// `plumb run`: --pin HOW, --bind-memory[=prefer|strict], --threads-per-process N, --skip GLOB, ...
void declare_run_pin_options(CLI::App& command, PinOptions& options);
// `plumb pin`: --compact, --scatter, --spread N, --list L, and the same others. Always enabled.
void declare_pin_options(CLI::App& command, PinOptions& options);

// True if the user asked `plumb run` to pin.
bool wants_pinning(const PinOptions& options);

} // namespace plumb::placement
