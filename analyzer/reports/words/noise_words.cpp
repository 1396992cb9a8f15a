#include "reports/words/noise_words.h"

#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using Kind = NoiseCulprit::Kind;

constexpr size_t kVerdictCulprits = 3;
constexpr double kWorthNaming = 0.05; // of the loss
constexpr double kMuchUnknown = 0.2;  // of the loss

// "CPU 1", "CPUs 0-3, 8".
std::string cpus_text(const std::vector<int>& cpus) {
    std::string text;
    for (size_t first = 0; first < cpus.size();) {
        size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", cpus[first]);
        if (last > first)
            text += fmt::format("-{}", cpus[last]);
        first = last + 1;
    }
    return cpus.empty() ? "" : (cpus.size() == 1 ? "CPU " : "CPUs ") + text;
}

std::string nodes_text(const model::NoiseNodes& where, size_t nodes) {
    if (nodes <= 1)
        return "";
    if (where.offsets.empty())
        return "all nodes";
    const std::string list = fmt::to_string(fmt::join(where.offsets, ", "));
    if (where.every == 0)
        return (where.offsets.size() == 1 ? "node " : "nodes ") + list;
    return fmt::format("node {} of every {}", list, where.every);
}

std::string target_of_verdict(const NoiseCulprit& culprit) {
    switch (culprit.kind) {
    case Kind::process:
        return culprit.name.empty() ? "processes that ended at once" : culprit.name;
    case Kind::unnamed_process:
        return "processes that are not known by name";
    case Kind::steal:
        return "the hypervisor";
    case Kind::slower:
        return "times when a CPU was slower";
    case Kind::small:
        return "differences below the floor";
    case Kind::unknown:
        break;
    }
    return "causes that are not known";
}

} // namespace

std::string noise_verdict(const NoiseSummary& noise) {
    if (noise.measured_s <= 0)
        return "Nothing was measured.";
    std::vector<std::string> parts;
    for (const NoiseCulprit& culprit : noise.culprits)
        if (parts.size() < kVerdictCulprits && culprit.share >= kWorthNaming)
            parts.push_back(fmt::format("{} to {}", format_fraction(culprit.fraction), target_of_verdict(culprit)));
    return fmt::format("{} {} of {} time{}{}.", noise.cpus.size() == 1 ? "The CPU loses" : "The CPUs lose", format_fraction(noise.fraction()),
                       noise.cpus.size() == 1 ? "its" : "their", parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

std::string culprit_name(const NoiseCulprit& culprit) {
    switch (culprit.kind) {
    case Kind::process:
        return culprit.name.empty() ? "processes that ended at once" : culprit.name;
    case Kind::unnamed_process:
        return "other processes, not known which";
    case Kind::steal:
        return "the hypervisor, by steal time (estimated)";
    case Kind::slower:
        return "a slower CPU: its clock, or who shares its core";
    case Kind::small:
        return "differences below the floor";
    case Kind::unknown:
        break;
    }
    return "not known";
}

std::string culprit_rhythm(const NoiseCulprit& culprit, size_t nodes) {
    if (culprit.kind != Kind::process)
        return culprit.events > 0 ? counted(culprit.events, "loss", "losses") : "";
    std::string text;
    if (culprit.events == 0)
        text = "not known how often";
    else if (culprit.is_regular)
        text = fmt::format("{} every {}", format_seconds(culprit.length_s), format_seconds(culprit.period_s));
    else if (culprit.events == 1)
        text = fmt::format("once, {}", format_seconds(culprit.length_s));
    else
        text = fmt::format("{} times, {} on average, {} at most", format_count(static_cast<double>(culprit.events)),
                           format_seconds(culprit.length_s), format_seconds(static_cast<double>(culprit.longest_ns) * 1e-9));
    text += ", " + cpus_text(culprit.cpus);
    if (nodes > 1)
        text += fmt::format(" of {}", culprit.nodes == nodes ? "all nodes" : counted(culprit.nodes, "node", "nodes"));
    return text;
}

NoiseClassWords class_words(const model::NoiseClass& one, size_t nodes) {
    using Class = model::NoiseClass;
    NoiseClassWords words;
    words.name = one.group.empty() ? "not known" : one.group;
    const bool is_periodic = one.regularity == Class::Regularity::periodic;
    words.rhythm = fmt::format("{} {}{}", format_seconds(one.duration.mean_s),
                               is_periodic ? "every " : "at random, on average every ", format_seconds(one.mean_period_s()));
    const std::string on_nodes = nodes_text(one.nodes, nodes);
    if (!one.cpus.empty())
        words.place = cpus_text(one.cpus);
    else
        words.place = one.scope == Class::Scope::cpu ? "each CPU" : "any CPU";
    if (!on_nodes.empty())
        words.place += " of " + on_nodes;
    return words;
}

std::vector<std::string> noise_caveats(const NoiseSummary& noise) {
    std::vector<std::string> caveats;
    caveats.push_back(fmt::format("Floor: a loss shorter than {} is not distinguishable from a quantum that nothing disturbed{}.",
                                  format_seconds(noise.floor_s),
                                  noise.floor_fraction > 0
                                      ? fmt::format("; what takes less than {} of a CPU is hidden by losses of unknown cause",
                                                    format_fraction(noise.floor_fraction))
                                      : ""));
    if (noise.unknown_share >= kMuchUnknown)
        caveats.push_back(fmt::format("{} of the loss has no cause that the kernel reports: interrupts, their handlers, or, on a "
                                      "virtual machine, its host.",
                                      format_fraction(noise.unknown_share)));
    if (noise.own_s > 0)
        caveats.push_back(fmt::format("plumb's own recorder took {} of these CPUs; this is not counted as lost.",
                                      format_seconds(noise.own_s)));
    if (!noise.switches_seen)
        caveats.emplace_back("The kernel's records of switches were not available: losses to other processes are among those of "
                             "unknown cause.");
    else if (!noise.names_seen)
        caveats.emplace_back("Without privileges the kernel does not say which process had a CPU: names follow from how long each "
                             "process ran, tenths of a second at a time. How much each took is right; on a busy CPU it is not always "
                             "known how often, and for how long at a time.");
    if (noise.left_out_s > 0)
        caveats.push_back(fmt::format("The shortest losses were counted and not kept one by one: {} in all.",
                                      format_seconds(noise.left_out_s)));
    if (noise.unseen > 0)
        caveats.push_back(fmt::format("plumb came too late for {}, which are left out.", counted(noise.unseen, "quantum", "quanta")));
    return caveats;
}

double noise_bin_begin_s(size_t bin) {
    constexpr double kFirstBinEnd_s = 128e-9;
    return bin == 0 ? 0 : kFirstBinEnd_s * std::exp2(static_cast<double>(bin - 1) / 2);
}

std::vector<LossDecade> loss_decades(const NoiseSummary& noise) {
    static constexpr std::array<const char*, 8> names{"below 1 us", "1 to 10 us", "10 to 100 us", "0.1 to 1 ms", "1 to 10 ms",
                                                      "10 to 100 ms", "0.1 to 1 s", "1 s and more"};
    std::vector<LossDecade> decades(names.size());
    for (size_t bin = 0; bin < noise.counts.size(); ++bin) {
        const double middle_s = noise_bin_begin_s(bin) * std::exp2(0.25);
        const double decade = middle_s > 0 ? std::floor(std::log10(middle_s)) + 7 : 0;
        const auto place = static_cast<size_t>(std::clamp(decade, 0.0, static_cast<double>(names.size() - 1)));
        decades[place].count += noise.counts[bin];
        decades[place].lost_s += noise.times_s[bin];
    }
    for (size_t i = 0; i < names.size(); ++i)
        decades[i].length = names[i];
    std::erase_if(decades, [](const LossDecade& decade) { return decade.count == 0; });
    return decades;
}

} // namespace plumb
