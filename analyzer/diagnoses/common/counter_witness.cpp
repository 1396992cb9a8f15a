#include "diagnoses/common/counter_witness.h"

#include "analyses/time/counter_ratio.h"
#include "analyses/time/run_totals.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace plumb {

namespace {

// What a finding rests on, and the cycles that one such event stalls a thread for. At least: a walk through page tables, or an access
// to the second level, that other work does not hide. At most: four accesses to memory one after the other, or one to the memory of a
// far node, on any machine of the last ten years.
struct Witness {
    std::string_view finding, event;
    double least_cycles, most_cycles;
};
constexpr std::array kWitnesses{
    Witness{"page-size", "data TLB misses", 20, 1000},
    Witness{"memory-remote", "remote memory loads", 150, 1000},
    Witness{"memory-hot-node", "remote memory loads", 150, 1000},
    Witness{"serial-first-touch", "remote memory loads", 150, 1000},
    Witness{"memory-left-behind", "remote memory loads", 150, 1000},
    Witness{"power-of-two-stride", "data cache misses", 5, 1000},
    Witness{"bandwidth-saturated", "last level misses", 20, 1000}, // many at a time
    Witness{"arrays-refetched", "last level misses", 20, 1000},
};

} // namespace

void hear_counters(Finding& finding, const model::Run& run) {
    const auto witness = std::ranges::find(kWitnesses, finding.id, &Witness::finding);
    if (witness == kWitnesses.end() || finding.cost.seconds <= 0)
        return;
    const auto by_cycle = counter_ratio(run, witness->event, "cycles");
    if (!by_cycle)
        return;
    const double cpu_s = totals_of(run).cpu_s; // of all threads: a cost in wall time is time of one of them at least
    const double least_s = by_cycle->value * witness->least_cycles * cpu_s, most_s = by_cycle->value * witness->most_cycles * cpu_s;
    std::string key = std::string(witness->event) + " per thousand cycles";
    std::ranges::replace(key, ' ', '_');
    std::ranges::transform(key, key.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    finding.evidence[key] = 1000 * by_cycle->value;
    if (most_s < finding.cost.seconds / 2) {
        finding.confidence /= 2;
        finding.evidence["counters"] = "contradict it: so few of these events cannot cost half of that";
    } else if (least_s >= finding.cost.seconds / 2) {
        finding.confidence = 1 - (1 - finding.confidence) / 2;
        finding.evidence["counters"] = "agree with it";
    }
}

} // namespace plumb
