#include "analyses/accesses/access_cost.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr double kNoise = 0.05; // of the time of an aligned access: two timings of the same loop differ by that
constexpr double kSweepShare = 0.125; // of the accesses of the sweeps that are timed
constexpr uint64_t kAllCrossings = 64; // samples of an instruction that all cross: it is no sweep

double extra_of(double time_ns, double aligned_ns) {
    return time_ns > aligned_ns * (1 + kNoise) ? time_ns - aligned_ns : 0;
}

void add_access(ExtraTime& extra, const model::AccessPenalties::Access& access) {
    if (access.aligned_ns <= 0)
        return;
    extra.known = true;
    extra.aligned_ns += access.aligned_ns;
    extra.within_ns += extra_of(access.unaligned_ns, access.aligned_ns);
    const double line_ns = extra_of(access.line_ns, access.aligned_ns);
    extra.line_ns += line_ns;
    extra.sparse_line_ns += access.sweep_line_ns > 0 ? std::min(access.sweep_line_ns, line_ns) : line_ns;
    extra.page_ns += std::max(extra_of(access.page_ns, access.aligned_ns), extra_of(access.line_ns, access.aligned_ns));
}

// Part of an access's time that its crossing adds.
double part_of(double extra_ns, double aligned_ns) {
    return extra_ns > 0 ? extra_ns / (aligned_ns + extra_ns) : 0;
}

struct Classes { // accesses by the worst boundary that they cross
    double within, line, page;
};

Classes classes_of(uint64_t all, uint64_t line_crossings, uint64_t page_crossings) {
    const uint64_t lines = std::min(line_crossings, all), pages = std::min(page_crossings, lines);
    return {static_cast<double>(all - lines), static_cast<double>(lines - pages), static_cast<double>(pages)};
}

// The same of a part of the accesses. One page crossing among thirty accesses is expensive and most likely a chance:
// unless there are clearly more, line crossings are taken to cross pages as often as ends of lines are ends of pages.
Classes classes_of_part(const AccessCounts& counts) {
    Classes classes = classes_of(counts.hits, counts.line_crossings, counts.page_crossings);
    const double lines = classes.line + classes.page;
    const double expected = lines * model::kLineBytes / model::kPageBytes;
    if (classes.page > expected + 2 * std::sqrt(expected) + 2)
        return classes;
    classes.page = expected;
    classes.line = lines - expected;
    return classes;
}

// The share of its time that an instruction spends in crossing accesses when it sweeps over memory, and finds all of it
// in the cache: one access in boundary / width crosses.
double time_share_in_sweep(const model::AccessKind& kind, uint32_t boundary, double extra_ns, double aligned_ns) {
    const double share = std::min(1.0, static_cast<double>(kind.width) / boundary);
    return share * (aligned_ns + extra_ns) / (aligned_ns + share * extra_ns);
}

AccessCost in_kind(const model::AccessKind& kind, double within_s, double line_s, double page_s) {
    AccessCost cost;
    if (kind.locked) {
        cost.split_lock_s = line_s + page_s;
        return cost;
    }
    cost.within_s = within_s;
    cost.line_s = line_s;
    cost.page_s = page_s;
    return cost;
}

} // namespace

const char* to_string(AccessCost::How how) {
    switch (how) {
    case AccessCost::How::measured:
        return "measured";
    case AccessCost::How::estimated:
        return "estimated";
    case AccessCost::How::bound:
        break;
    }
    return "bound";
}

void AccessCost::add(const AccessCost& other) {
    if (other.total_s() <= 0)
        return;
    how = total_s() > 0 ? std::max(how, other.how) : other.how;
    within_s += other.within_s;
    line_s += other.line_s;
    page_s += other.page_s;
    split_lock_s += other.split_lock_s;
    measured_s += other.measured_s;
}

void AccessCost::scale(double factor) {
    within_s *= factor;
    line_s *= factor;
    page_s *= factor;
    split_lock_s *= factor;
    measured_s *= factor;
}

double ExtraTime::line_at(double share) const {
    const double part = std::clamp((share - kSweepShare) / (1 - kSweepShare), 0.0, 1.0);
    return sparse_line_ns + part * (line_ns - sparse_line_ns);
}

ExtraTime extra_time_of(const model::AccessPenalties* penalties, const model::AccessKind& kind) {
    ExtraTime extra;
    if (!penalties)
        return extra;
    if (kind.locked) {
        extra.known = penalties->locked_ns > 0 && penalties->split_lock_ns > 0;
        extra.aligned_ns = penalties->locked_ns;
        extra.line_ns = extra.page_ns = extra_of(penalties->split_lock_ns, penalties->locked_ns);
        extra.sparse_line_ns = extra.line_ns;
        return extra;
    }
    if (kind.load || !kind.store)
        add_access(extra, penalties->load);
    if (kind.store)
        add_access(extra, penalties->store);
    return extra;
}

AccessCost cost_of_counts(const ExtraTime& extra, const model::AccessKind& kind, const AccessCounts& counts,
                          double sampled_s) {
    if (!extra.known || counts.hits == 0)
        return {};
    const Classes classes = counts.exact ? classes_of(counts.hits, counts.line_crossings, counts.page_crossings)
                                         : classes_of_part(counts);
    const double within_s = classes.within * extra.within_ns * 1e-9;
    const double line_s = classes.line * 1e-9 *
                          extra.line_at((classes.line + classes.page) / static_cast<double>(counts.hits));
    const double page_s = classes.page * extra.page_ns * 1e-9;
    AccessCost counted = in_kind(kind, within_s, line_s, page_s);
    if (counts.exact && !kind.string) {
        // A split lock's penalty is the same whatever stands around it; the others overlap with their neighbours.
        counted.how = kind.locked ? AccessCost::How::measured : AccessCost::How::estimated;
        return counted;
    }
    counted.how = AccessCost::How::bound;
    const double all_s = static_cast<double>(counts.hits) * extra.aligned_ns * 1e-9 + within_s + line_s + page_s;
    if (all_s <= 0 || sampled_s <= all_s)
        return counted;
    counted.scale(sampled_s / all_s);
    counted.how = AccessCost::How::estimated;
    return counted;
}

AccessCost cost_of_samples(const ExtraTime& extra, const model::AccessKind& kind, const model::SampledAccess& access) {
    if (!extra.known || access.samples == 0)
        return {};
    const uint64_t unaligned = std::max(access.unaligned, access.line_crossings);
    const uint64_t samples = access.samples;
    Classes classes = classes_of(std::min(unaligned, samples), access.line_crossings, access.page_crossings);
    const auto at_most_as_in_sweep = [&](double crossings, uint32_t boundary, double extra_ns) {
        return std::min(crossings, static_cast<double>(samples) *
                                       time_share_in_sweep(kind, boundary, extra_ns, extra.aligned_ns));
    };
    if (access.page_crossings < samples || samples < kAllCrossings)
        classes.page = at_most_as_in_sweep(classes.page, model::kPageBytes, extra.page_ns);
    double line_ns = extra.line_ns;
    if (access.line_crossings < samples || samples < kAllCrossings) {
        line_ns = extra.line_at(static_cast<double>(kind.width) / model::kLineBytes);
        classes.line = at_most_as_in_sweep(classes.line, model::kLineBytes, line_ns);
    }
    const double sample_s = static_cast<double>(access.time_ns) * 1e-9 / static_cast<double>(samples);
    AccessCost cost = in_kind(kind, classes.within * sample_s * part_of(extra.within_ns, extra.aligned_ns),
                              classes.line * sample_s * part_of(line_ns, extra.aligned_ns),
                              classes.page * sample_s * part_of(extra.page_ns, extra.aligned_ns));
    cost.how = AccessCost::How::estimated;
    return cost;
}

} // namespace plumb
