#include "record/noise/absence_names.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace plumb::record {

uint64_t take_own_time(Absence& absence, uint32_t own_tid, std::span<const AwakeTime> awake, uint64_t most_ns) {
    uint64_t own_ns = 0;
    std::vector<Absence::Part> kept;
    for (const Absence::Part& part : absence.parts) {
        if (part.tid == own_tid) {
            own_ns += part.length_ns();
            continue;
        }
        if (part.tid != 0) {
            kept.push_back(part);
            continue;
        }
        Absence::Part rest = part;
        auto time = std::ranges::upper_bound(awake, part.begin_ns, {}, &AwakeTime::end_ns);
        for (; time != awake.end() && time->begin_ns < rest.end_ns && own_ns < most_ns; ++time) {
            const uint64_t begin_ns = std::max(time->begin_ns, rest.begin_ns);
            const uint64_t end_ns = std::min({time->end_ns, rest.end_ns, begin_ns + (most_ns - own_ns)});
            if (end_ns <= begin_ns)
                continue;
            own_ns += end_ns - begin_ns;
            if (begin_ns > rest.begin_ns)
                kept.push_back({.tid = 0, .pid = 0, .begin_ns = rest.begin_ns, .end_ns = begin_ns, .name = 0});
            rest.begin_ns = end_ns;
        }
        if (rest.end_ns > rest.begin_ns)
            kept.push_back(rest);
    }
    absence.parts = std::move(kept);
    return own_ns;
}

void name_by_use(std::vector<Absence>& absences, std::vector<CpuUse>& uses, NameTable& names) {
    std::vector<Absence::Part*> open;
    uint64_t absent_ns = 0, used_ns = 0;
    for (Absence& absence : absences)
        for (Absence::Part& part : absence.parts)
            if (part.tid == 0) {
                open.push_back(&part);
                absent_ns += part.length_ns();
            }
    for (const CpuUse& use : uses)
        used_ns += use.run_ns;
    const uint64_t unseen_ns = absent_ns - std::min(absent_ns, used_ns);
    // The longest first: few threads ran for so long, and once one has its time, fewer are left for the others.
    std::ranges::stable_sort(open, std::greater<>(), &Absence::Part::length_ns);
    for (bool found = true; found;) {
        found = false;
        for (Absence::Part*& part : open) {
            if (!part || part->length_ns() == 0)
                continue;
            const uint64_t half_ns = part->length_ns() / 2;
            const auto largest = std::ranges::max_element(uses, {}, &CpuUse::run_ns);
            if (largest == uses.end() || largest->run_ns <= half_ns || used_ns - largest->run_ns + unseen_ns >= half_ns)
                continue;
            part->tid = largest->tid;
            part->pid = largest->pid;
            part->name = names.number_of(largest->name);
            const uint64_t taken_ns = std::min(largest->run_ns, part->length_ns());
            largest->run_ns -= taken_ns;
            used_ns -= taken_ns;
            part = nullptr;
            found = true;
        }
    }
}

} // namespace plumb::record
