#include "synthetic_repetition.h"

#include "statistics/spread.h"

#include <string>

namespace plumb::synthetic {

repeat::Repetition make_repetition() {
    repeat::RepeatedCommand command;
    command.set = "runs";
    command.program = "./solve </script><img src=x>";
    constexpr size_t kRuns = 16;
    for (size_t run = 0; run < kRuns; ++run) {
        const auto misses = static_cast<double>(run * 7 % kRuns); // each once, in no order
        const bool is_slow_cpu = run * 5 % 8 < 4;
        RunFigures figures;
        figures.wall_parts = {{"computing", {2 + 0.25 * misses + (is_slow_cpu ? 1.5 : 0), true}},
                              {"runnable, waiting for a CPU", {0.01 * static_cast<double>(run % 3), false}}};
        for (const auto& [name, part] : figures.wall_parts)
            figures.wall_s += part.seconds;
        figures.conditions.amounts["data cache misses per thousand instructions"] = 10 + 2 * misses;
        figures.conditions.kinds["the CPU of its busiest thread"] = is_slow_cpu ? "CPU 1" : "CPU 0";
        command.figures.push_back(figures);
        command.runs.push_back({});
    }
    std::vector<double> walls;
    for (const RunFigures& figures : command.figures)
        walls.push_back(figures.wall_s);
    command.wall_s = statistics::spread_of(walls);
    command.variation = repeat::variation_of(command.figures);
    repeat::Repetition repetition;
    repetition.directory = "/home/user/plumb-repeat-solve";
    repetition.commands = {command};
    repetition.asked = kRuns;
    return repetition;
}

} // namespace plumb::synthetic
