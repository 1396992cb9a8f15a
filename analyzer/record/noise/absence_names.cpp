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

namespace {

constexpr uint64_t kRestOfGiven = 20; // the twentieth part: by so much clocks differ

void give(Absence::Part& part, CpuUse& use, NameTable& names) {
    part.tid = use.tid;
    part.pid = use.pid;
    part.name = names.number_of(use.name);
    use.ahead_ns += part.length_ns() - std::min(use.run_ns, part.length_ns());
    use.run_ns -= std::min(use.run_ns, part.length_ns());
}

// Those of which one thread alone can have filled the greater part. The longest first: few threads ran for so long, and once one
// has its time, fewer are left for the others.
void name_certain(std::vector<Absence>& absences, std::vector<CpuUse>& uses, NameTable& names) {
    std::vector<Absence::Part*> open;
    uint64_t absent_ns = 0, used_ns = 0;
    for (Absence& absence : absences)
        for (Absence::Part& part : absence.parts)
            if (part.tid == 0 && part.length_ns() > 0) {
                open.push_back(&part);
                absent_ns += part.length_ns();
            }
    for (const CpuUse& use : uses)
        used_ns += use.run_ns;
    const uint64_t unseen_ns = absent_ns - std::min(absent_ns, used_ns);
    std::ranges::stable_sort(open, std::greater<>(), [](const Absence::Part* part) { return part->length_ns(); });
    for (bool found = true; found;) {
        found = false;
        for (Absence::Part* part : open) {
            const auto largest = std::ranges::max_element(uses, {}, &CpuUse::run_ns);
            const uint64_t half_ns = part->length_ns() / 2;
            if (part->tid != 0 || largest == uses.end() || largest->run_ns <= half_ns ||
                used_ns - largest->run_ns + unseen_ns >= half_ns)
                continue;
            used_ns -= largest->run_ns;
            give(*part, *largest, names);
            largest->given_ns += part->length_ns();
            if (largest->run_ns <= largest->given_ns / kRestOfGiven)
                largest->run_ns = 0;
            used_ns += largest->run_ns;
            found = true;
        }
    }
}

} // namespace

void name_by_use(std::vector<Absence>& absences, std::vector<CpuUse>& uses, NameTable& names) {
    name_certain(absences, uses, names);
    std::vector<CpuUse*> left;
    for (CpuUse& use : uses)
        if (use.run_ns > 0)
            left.push_back(&use);
    std::ranges::stable_sort(left, {}, [](const CpuUse* use) { return use->run_ns; });
    auto next = left.begin();
    for (Absence& absence : absences) {
        std::vector<Absence::Part> parts;
        for (Absence::Part part : absence.parts) {
            while (part.tid == 0 && part.length_ns() > 0 && next != left.end()) {
                Absence::Part named = part;
                named.end_ns = std::min(part.end_ns, part.begin_ns + (*next)->run_ns);
                part.begin_ns = named.end_ns;
                give(named, **next, names);
                named.is_sometime = true;
                parts.push_back(named);
                if ((*next)->run_ns == 0)
                    ++next;
            }
            if (part.length_ns() > 0)
                parts.push_back(part);
        }
        absence.parts = std::move(parts);
    }
}

} // namespace plumb::record
