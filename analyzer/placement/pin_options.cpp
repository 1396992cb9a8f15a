#include "placement/pin_options.h"

#include "placement/position_list.h"
#include "support/error.h"

#include <CLI/CLI.hpp>

namespace plumb::placement {

namespace {

void declare_common(CLI::App& command, PinOptions& options) {
    command
        .add_flag("--bind-memory{prefer}", options.memory, // a flag: never takes the next word, which may be the program
                    "Put each thread's memory on its CPU's node: prefer (default; a full node spills to the next "
                    "one) or strict (a full node ends the program)")
        ->check(CLI::IsMember({"prefer", "strict"}))
        ->group("Placement");
    command
        .add_option("--threads-per-process", options.threads_per_process,
                    "Positions each process owns (default: OMP_NUM_THREADS, or an equal share for each rank)")
        ->check(CLI::Range(1, kMostPositions))
        ->group("Placement");
    command
        .add_option("--skip", options.skip,
                    "Do not pin threads whose name or creating library matches this glob (repeatable; known helper threads of "
                    "MPI, transports and accelerators are never pinned)")
        ->expected(1)
        ->take_all()
        ->group("Placement");
    command
        .add_flag("--absolute", options.absolute, "The list holds CPU numbers of the operating system, not relative ones")
        ->group("Placement");
    command
        .add_flag("--whole-cpuset", options.whole_cpuset,
                  "Count relative CPUs over the whole cpuset, even if a launcher has bound this process to a part of it")
        ->group("Placement");
    command.add_option("--pin-topology", options.topology, "Plan with this hwloc XML file instead of this machine")
        ->check(CLI::ExistingFile)
        ->group("Placement");
}

} // namespace

Wish PinOptions::to_wish() const {
    Wish result;
    if (!wish.empty())
        result = parse_wish(wish);
    else if (scatter)
        result.strategy = Strategy::scatter;
    else if (spread > 0)
        result.strategy = Strategy::spread, result.step = spread;
    else if (!list.empty())
        result.strategy = Strategy::list, result.positions = parse_position_list(list);
    result.absolute = absolute;
    if (absolute && result.strategy != Strategy::list)
        throw UsageError("--absolute needs a list of CPUs");
    return result;
}

MemoryBinding PinOptions::memory_binding() const {
    if (memory.empty())
        return MemoryBinding::none;
    return memory == "strict" ? MemoryBinding::strict : MemoryBinding::prefer;
}

bool wants_pinning(const PinOptions& options) { return options.enabled || !options.wish.empty(); }

void declare_run_pin_options(CLI::App& command, PinOptions& options) {
    command
        .add_option("--pin", options.wish,
                    "Pin threads in the order of their creation: compact, scatter, spread:N or list:0,2,4-7 "
                    "(relative CPUs)")
        ->group("Placement");
    declare_common(command, options);
}

void declare_pin_options(CLI::App& command, PinOptions& options) {
    options.enabled = true;
    CLI::Option* compact =
        command.add_flag("--compact", options.compact, "Fill one shared cache after the other (default)");
    CLI::Option* scatter = command.add_flag("--scatter", options.scatter,
                                            "As far apart as possible: packages, nodes, caches, cores, siblings");
    CLI::Option* spread = command.add_option("--spread", options.spread, "Every N-th allowed CPU")
                              ->check(CLI::Range(1, kMostPositions));
    CLI::Option* list = command.add_option("--list", options.list, "These relative CPUs, e.g. 0,2,4-7:2");
    for (CLI::Option* one : {compact, scatter, spread, list}) {
        one->group("Placement");
        for (CLI::Option* other : {compact, scatter, spread, list})
            if (one != other)
                one->excludes(other);
    }
    declare_common(command, options);
}

} // namespace plumb::placement
