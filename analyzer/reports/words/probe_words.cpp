#include "reports/words/probe_words.h"

#include "reports/words/quantity.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kMostHalf = 0.99; // of an interval: of a wider one its end is printed, as a multiple of the median

using probe::CpuGroup;
using probe::SlowCpu;

constexpr size_t kMostSeenThere = 3, kMostDisagreements = 4;
constexpr double kWorthNaming_s = 0.01;

std::string in_si(double value, const char* unit) {
    static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    for (; std::fabs(value) >= 999.5 && prefix < 5; ++prefix)
        value /= 1000;
    return fmt::format("{} {}{}", three_digits(value), kPrefixes[prefix], unit);
}

std::string groups_words(const std::vector<CpuGroup>& groups) {
    std::string words;
    for (const CpuGroup& group : groups)
        words += fmt::format("{}{}", words.empty() ? "" : "; ", format_cpu_list(group));
    return words;
}

// Of those that ran on the CPU last, which is not to say always.
std::string who_ran(const probe::Measured& measured, int cpu) {
    std::map<std::string, double> names;
    for (const record::CpuUse& use : measured.others)
        if (use.cpu == cpu)
            names[fmt::format("{} (pid {})", use.name, use.pid)] += static_cast<double>(use.run_ns) * 1e-9;
    std::vector<std::pair<double, std::string>> sorted;
    for (const auto& [name, seconds] : names)
        if (seconds >= kWorthNaming_s)
            sorted.emplace_back(seconds, name);
    std::ranges::sort(sorted, std::greater<>{});
    std::string words;
    for (size_t i = 0; i < std::min(sorted.size(), kMostSeenThere); ++i)
        words += fmt::format("{}{} for {}", i ? ", " : "", sorted[i].second, format_seconds(sorted[i].first));
    return words;
}

std::string why_slow(const probe::Measured& measured, const SlowCpu& slow) {
    std::string words;
    if (slow.cause != SlowCpu::Cause::others)
        words += fmt::format(
            "The CPU itself is slower, or what it shares with others: in CPU time its work takes {} times as long. ",
            three_digits(slow.cpu_slowdown));
    if (slow.cause != SlowCpu::Cause::itself) {
        words += fmt::format("Others ran on it: the probe had it for {} of the time, the other CPUs for {}. ",
                             format_fraction(slow.share), format_fraction(slow.share_of_others));
        const std::string who = who_ran(measured, slow.cpu);
        words += who.empty() ? "No program that ran there was seen. " : fmt::format("Seen there: {}. ", who);
    }
    const auto stolen = measured.stolen_share.find(slow.cpu);
    if (stolen != measured.stolen_share.end() && stolen->second >= 0.01)
        words += fmt::format("The hypervisor gave {} of its time to others. ", format_fraction(stolen->second));
    if (!words.empty())
        words.pop_back();
    return words;
}

std::string pairs_words(size_t pairs) { return counted(pairs, "pair that was measured", "pairs that were measured"); }

} // namespace

std::string format_figure(double value, probe::Unit unit) {
    switch (unit) {
    case probe::Unit::seconds: return format_seconds(value);
    case probe::Unit::bytes_per_s: return in_si(value, "B/s");
    case probe::Unit::hertz: return in_si(value, "Hz");
    case probe::Unit::ratio: break;
    }
    return three_digits(value);
}

std::string format_with_interval(const probe::Figure& figure) {
    const statistics::Spread& spread = figure.spread;
    const std::string value = format_figure(spread.median, figure.unit);
    if (!spread.is_known || spread.median <= 0)
        return value;
    const double half = std::max(spread.high - spread.median, spread.median - spread.low) / spread.median;
    return half > kMostHalf ? fmt::format("{} (x{:.2g})", value, spread.high / spread.median)
                            : fmt::format("{} ({:.0f} %)", value, std::ceil(100 * half));
}

std::string format_date(double since_1970_s) {
    const auto whole = static_cast<std::time_t>(since_1970_s);
    std::tm local{};
    char text[32] = "?";
    if (localtime_r(&whole, &local))
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    return text;
}

std::vector<SlowCpuWords> words_of_slow_cpus(const probe::ProbeOutcome& outcome) {
    std::vector<SlowCpuWords> all;
    for (const SlowCpu& slow : outcome.slow) {
        const auto known = std::ranges::find(all, slow.cpu, &SlowCpuWords::cpu);
        if (known != all.end()) {
            known->title += fmt::format(", {} {} x", name_of(slow.test), three_digits(slow.slowdown));
            continue;
        }
        all.push_back({slow.cpu,
                       fmt::format("CPU {} is slower than the others: {} {} x ({} to {})", slow.cpu, name_of(slow.test),
                                   three_digits(slow.slowdown), three_digits(slow.low), three_digits(slow.high)),
                       why_slow(outcome.measured, slow)});
    }
    return all;
}

std::vector<std::string> words_of_shared_paths(const probe::ProbeOutcome& outcome) {
    std::vector<std::string> lines;
    const probe::SharedPaths& shared = outcome.shared;
    if (shared.computing > 0)
        lines.push_back(
            shared.cores.empty()
                ? fmt::format("Of {} no two CPUs slow each other down when both calculate: they share no core.",
                              pairs_words(shared.computing))
                : fmt::format("Share a core (slow each other down when both calculate): {}.", groups_words(shared.cores)));
    if (shared.reading > 0)
        lines.push_back(shared.memory_paths.empty()
                            ? fmt::format("Of {} no two CPUs slow each other down when both read memory.", pairs_words(shared.reading))
                            : fmt::format("Share a path to memory (slow each other down when both read it): {}.",
                                          groups_words(shared.memory_paths)));
    if (shared.computing < outcome.pairs.size() || shared.reading < outcome.pairs.size())
        lines.push_back("Where a figure has no interval, others kept the CPUs too busy for a verdict.");
    for (const probe::CloseGroups& level : shared.caches)
        lines.push_back(fmt::format("Hand over cache lines within {}, all others take longer: {}.",
                                    format_seconds(level.slowest_ns * 1e-9), groups_words(level.groups)));
    if (shared.caches.empty() && shared.handovers > 1)
        lines.push_back(fmt::format("Cache lines take about the same time between the CPUs of {}: no groups by cache.",
                                    pairs_words(shared.handovers)));
    for (size_t i = 0; i < std::min(outcome.disagreements.size(), kMostDisagreements); ++i) {
        const probe::Disagreement& other = outcome.disagreements[i];
        lines.push_back(fmt::format("The kernel says that CPUs {} and {} {} one {}. The measurement says the opposite.",
                                    other.first, other.second, other.kernel_says_shared ? "share" : "do not share",
                                    other.what == probe::Disagreement::What::core ? "core" : "cache"));
    }
    if (outcome.disagreements.size() > kMostDisagreements)
        lines.push_back(fmt::format("It says otherwise than the measurement of {} more.",
                                    counted(outcome.disagreements.size() - kMostDisagreements, "pair", "pairs")));
    else if (outcome.disagreements.empty() && shared.computing > 0)
        lines.push_back("The kernel's description agrees with that as far as it was measured.");
    return lines;
}

} // namespace plumb
