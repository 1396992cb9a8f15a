// plumb probe: the machine itself in a minute.
#include "commands/command.h"
#include "commands/duration_option.h"
#include "probe/judge/figures.h"
#include "probe/judge/slow_cpus.h"
#include "probe/measure/measure_machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace plumb {
CommandAction declare_probe(CLI::App& subcommand) {
    auto options = std::make_shared<probe::ProbeOptions>();
    auto time = std::make_shared<std::string>("60s");
    subcommand.add_option("--time", *time);
    subcommand.add_option("--cpus", options->cpus);
    return [options, time] {
        options->time_s = parse_duration_s("--time", *time);
        probe::EndSignals signals;
        probe::Prober prober(*options, signals);
        const auto measured = prober.measure({});
        fmt::print("rounds {} took {} turn {}\n", measured.rounds, measured.took_s, measured.turn_ns);
        for (const auto& f : probe::figures_of(measured))
            fmt::print("{:22} {:22} {:10.4g} {:10.4g} {:10.4g} {} {}\n", f.test, f.place, f.spread.median, f.spread.low, f.spread.high, name_of(f.unit), f.spread.count);
        for (const auto& s : probe::slow_cpus(measured.cpus, 0.1))
            fmt::print("SLOW CPU {} {} {} [{} {}] cpu {} share {} {} cause {}\n", s.cpu, name_of(s.test), s.slowdown, s.low, s.high, s.cpu_slowdown, s.share, s.share_of_others, int(s.cause));
        for (size_t i = 0; i < std::min<size_t>(5, measured.others.size()); ++i)
            fmt::print("{} {} cpu {} {}\n", measured.others[i].name, measured.others[i].pid, measured.others[i].cpu, measured.others[i].run_ns * 1e-9);
        return 0;
    };
}
} // namespace plumb
