#include "probe/judge/figures.h"

#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::probe {

namespace {

class Collector {
  public:
    void add(const char* test, const std::string& place, Unit unit, std::vector<double> values, double factor = 1) {
        std::erase_if(values, [](double value) { return !(value > 0); });
        for (double& value : values)
            value *= factor;
        if (!values.empty())
            figures.push_back({test, place, unit, statistics::spread_of_series(values)});
    }
    // Operations a second, of nanoseconds for one.
    void add_rate(const char* test, const std::string& place, Unit unit, std::vector<double> values_ns) {
        for (double& value : values_ns)
            value = 1e9 / value;
        add(test, place, unit, std::move(values_ns));
    }
    std::vector<Figure> figures;
};

void add_cpu(Collector& collector, const CpuTurns& cpu) {
    const std::string place = place_of(cpu.cpu);
    for (const CpuTest test : kAllCpuTests)
        if (test == CpuTest::bandwidth)
            collector.add_rate(name_of(test), place, Unit::bytes_per_s, values_of(cpu, test));
        else if (test == CpuTest::clock)
            collector.add_rate(name_of(test), place, Unit::hertz, values_of(cpu, test));
        else
            collector.add(name_of(test), place, Unit::seconds, values_of(cpu, test), 1e-9);
}

} // namespace

const char* name_of(Unit unit) {
    switch (unit) {
    case Unit::seconds: return "s";
    case Unit::bytes_per_s: return "bytes/s";
    case Unit::hertz: return "Hz";
    case Unit::ratio: break;
    }
    return "ratio";
}

bool is_rate(Unit unit) { return unit == Unit::bytes_per_s || unit == Unit::hertz; }

std::string place_of(int cpu) { return fmt::format("CPU {}", cpu); }
std::string place_of_pair(int first, int second) { return fmt::format("CPUs {}+{}", first, second); }
std::string place_of_node(const NodeTurns& node) { return fmt::format("CPU {} to NUMA node {}", node.cpu, node.memory_node); }

std::vector<double> values_of(const CpuTurns& cpu, CpuTest test) {
    std::vector<double> values;
    for (const Turn& turn : cpu.of(test))
        values.push_back(test != CpuTest::clock ? turn.wall_of_one_ns() : turn.is_measured() ? turn.best_ns : kNotMeasured);
    return values;
}

double share_of_cpu(const CpuTurns& cpu) {
    double wall_ns = 0, cpu_ns = 0;
    for (const auto& turns : cpu.turns)
        for (const Turn& turn : turns) {
            wall_ns += turn.wall_ns;
            cpu_ns += turn.cpu_ns;
        }
    return wall_ns > 0 ? std::min(1.0, cpu_ns / wall_ns) : kNotMeasured;
}

std::vector<Figure> figures_of(const Measured& measured) {
    Collector collector;
    for (const CpuTurns& cpu : measured.cpus)
        add_cpu(collector, cpu);
    for (const CopyTurns& copies : measured.copies) {
        const std::string place = counted(copies.copies, "copy", "copies");
        collector.add("memory read", place, Unit::bytes_per_s, copies.bytes_per_s);
        collector.add("compute slowdown", place, Unit::ratio, copies.compute_slowdown);
    }
    for (const PairTurns& pair : measured.pairs) {
        const std::string place = place_of_pair(pair.first, pair.second);
        collector.add("line handover", place, Unit::seconds, pair.handover_ns, 1e-9);
        collector.add("compute slowdown", place, Unit::ratio, pair.compute_slowdown);
        collector.add("memory read slowdown", place, Unit::ratio, pair.read_slowdown);
    }
    for (const NodeTurns& node : measured.nodes)
        collector.add("memory latency", place_of_node(node), Unit::seconds, node.latency_ns, 1e-9);
    collector.add("memory latency", "small pages", Unit::seconds, measured.pages.small_ns, 1e-9);
    collector.add("memory latency", "huge pages", Unit::seconds, measured.pages.why_not.empty() ? measured.pages.huge_ns
                                                                                                : std::vector<double>(), 1e-9);
    collector.add("write", "disk", Unit::bytes_per_s, measured.disk.write_bytes_per_s);
    collector.add("read", "disk", Unit::bytes_per_s, measured.disk.read_bytes_per_s);
    collector.add("store 4 KiB", "disk", Unit::seconds, measured.disk.sync_s);
    collector.add("reading it", "clock", Unit::seconds, measured.clock_read_ns, 1e-9);
    collector.add("time stamp counter", "clock", Unit::hertz, measured.tsc_hz);
    return collector.figures;
}

const Figure* find(const std::vector<Figure>& figures, const std::string& test, const std::string& place) {
    const auto found =
        std::ranges::find_if(figures, [&](const Figure& figure) { return figure.test == test && figure.place == place; });
    return found == figures.end() ? nullptr : &*found;
}

} // namespace plumb::probe
