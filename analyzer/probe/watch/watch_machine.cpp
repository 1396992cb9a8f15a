#include "probe/watch/watch_machine.h"

#include "probe/watch/busy_programs.h"
#include "record/run/node_trace_writer.h"
#include "statistics/difference.h"

#include <algorithm>
#include <unistd.h>

namespace plumb::probe {

namespace {

// What the probe's own group used that others did not: the probe is in it.
void take_off_own(std::map<std::string, double>& groups, double own_s, const std::string& own_group) {
    for (auto& [name, used_s] : groups)
        if (own_group == name || own_group.starts_with(name + "/"))
            used_s = std::max(0.0, used_s - own_s);
}

std::map<std::string, double> by_time(std::map<std::string, double> used_s, double took_s) {
    for (auto& [name, used] : used_s)
        used /= took_s;
    return used_s;
}

} // namespace

std::map<std::string, double> slowness_of(const Measured& measured) {
    std::map<std::string, double> slowness;
    std::vector<double> waits;
    for (const CpuTest test : kAllCpuTests) {
        std::vector<double> values;
        for (const CpuTurns& cpu : measured.cpus)
            for (const Turn& turn : cpu.of(test))
                if (turn.is_measured()) {
                    values.push_back(turn.cpu_of_one_ns());
                    waits.push_back(turn.wall_ns / turn.cpu_ns);
                }
        if (!values.empty() && test != CpuTest::clock)
            slowness[name_of(test)] = statistics::median_of(values);
    }
    if (!waits.empty()) { // a mean: most turns are not interrupted
        double sum = 0;
        for (const double wait : waits)
            sum += wait;
        slowness["wait for a CPU"] = sum / static_cast<double>(waits.size());
    }
    return slowness;
}

Watched watch_machine(const WatchOptions& options, EndSignals& signals, const std::function<void(size_t)>& progress) {
    Watched watched;
    watched.every_s = options.every_s;
    watched.look_s = options.probe.time_s;
    Prober prober(options.probe, signals);
    BusyPrograms busy("", static_cast<uint32_t>(getpid()));
    const uint64_t begin_ns = record::monotonic_ns();
    const auto passed_s = [&] { return static_cast<double>(record::monotonic_ns() - begin_ns) * 1e-9; };
    while (!signals.come()) {
        busy.begin();
        const uint64_t own_ns = record::own_cpu_ns();
        const Measured measured = prober.measure([&](double) { busy.look(); });
        busy.look();
        if (watched.looks.empty()) {
            watched.machine = measured.machine;
            watched.begin_s = measured.begin_s;
        }
        if (measured.signal)
            break;
        auto groups = busy.groups();
        take_off_own(groups, static_cast<double>(record::own_cpu_ns() - own_ns) * 1e-9, busy.own_group());
        watched.looks.push_back({measured.begin_s, slowness_of(measured), by_time(busy.programs(), measured.took_s),
                                 by_time(std::move(groups), measured.took_s)});
        if (progress)
            progress(watched.looks.size());
        const double next_s = options.every_s * static_cast<double>(watched.looks.size());
        if (options.for_s > 0 && next_s + options.probe.time_s > options.for_s)
            break;
        if (const double left_s = next_s - passed_s(); left_s > 0)
            signals.wait(static_cast<uint64_t>(left_s * 1e9));
    }
    watched.took_s = passed_s();
    watched.ended_early = signals.come() != 0 && options.for_s > 0;
    watched.suspects = slowing_programs(watched.looks);
    return watched;
}

} // namespace plumb::probe
