#include "diagnoses/mpi/late_reason.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace plumb {

namespace {

constexpr double kLeastOfLateness = 0.5; // what the reason must explain
// Of the cost, what is known of the lateness. Where ranks wait for one another in turn, lateness is counted once only.
constexpr double kLeastKnown = 0.25, kLeastKnownByMessages = 0.5;
constexpr double kLeastOfWork = 0.3;    // of what they compute more: what samples must have seen of it, or lines say nothing
constexpr double kLeastOfBlocked = 0.3; // likewise, of the time blocked and what looks saw of it
// Of the others' computing: CPUs of one node differ by a few per cent for the same work, and by a third of it where something
// outside the run uses the same core (another hardware thread, another virtual machine). Messages do not say whether a rank is
// late in each step alike: then a core that two share for the whole run is not ruled out, which takes twice the time at most.
constexpr double kMoreToDo = 0.1, kSurelyMoreToDo = 0.35, kSurelyMoreByMessages = 1;
constexpr double kLacksCpu = 0.15;      // of the late ranks' time: less is taken by whatever runs on any machine, this tool too
constexpr double kBeyondSpread = 4;     // times the standard deviation of the others' computing: no chance of their CPUs
constexpr size_t kEnoughOthers = 3;     // to tell that deviation
constexpr double kOwnLines = 0.1;       // what the usual rank may spend on lines that are the late ones' own
constexpr uint64_t kEnoughSamples = 200; // of all ranks: with fewer, lines would show a large surplus only

// Sums of the late ranks, beyond what is the median of the others.
struct Surplus {
    double compute_s = 0, delay_s = 0, asleep_s = 0;
    double usual_compute_s = 0; // of as many other ranks
    bool is_beyond_spread = false; // of the others, by far

    double busy_s() const { return std::max(0.0, compute_s - delay_s - asleep_s); } // of compute_s, on a CPU
};

template <class Value> double median_of_others(const model::MpiJob& job, const LateRanks& late, const Value& value) {
    std::vector<double> values;
    for (const model::MpiRankRow& row : job.ranks)
        if (!late.has(row))
            values.push_back(std::invoke(value, row));
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

Surplus surplus_of(const model::MpiJob& job, const LateRanks& late) {
    const double asleep_s = median_of_others(job, late, &model::MpiRankRow::asleep_s);
    const double compute_s = median_of_others(job, late, &model::MpiRankRow::compute_s);
    const double delay_s = median_of_others(job, late, &model::MpiRankRow::run_delay_s);
    Surplus surplus;
    for (const model::MpiRankRow* row : late.rows) {
        surplus.compute_s += std::max(0.0, row->compute_s - compute_s);
        surplus.delay_s += std::max(0.0, row->run_delay_s - delay_s);
        surplus.asleep_s += std::max(0.0, row->asleep_s - asleep_s);
        surplus.usual_compute_s += compute_s;
    }
    double variance = 0;
    size_t others = 0;
    for (const model::MpiRankRow& row : job.ranks)
        if (!late.has(row)) {
            variance += (row.compute_s - compute_s) * (row.compute_s - compute_s);
            ++others;
        }
    const double deviation_s = others ? std::sqrt(variance / static_cast<double>(others)) : 0;
    surplus.is_beyond_spread = others >= kEnoughOthers &&
                               surplus.compute_s > kBeyondSpread * deviation_s * static_cast<double>(late.rows.size());
    return surplus;
}

// CPU time that plumb's recorder may have taken from late ranks, which no advice gives back: twice their even part of it, as it may
// have been on their CPUs more than on others.
double recorder_s(const model::Run& run, const LateRanks& late) {
    double sum_ns = 0;
    for (const model::MpiRankRow* row : late.rows)
        if (row->host < run.hosts.size()) {
            const model::Host& host = run.hosts[row->host];
            const auto cpus = static_cast<double>(std::max<size_t>(host.allowed_cpus.size(), 1)); // not known: one
            sum_ns += std::min(1.0, 2 / cpus) * static_cast<double>(host.recorder_cpu_ns);
        }
    return sum_ns * 1e-9;
}

// As collectives show it.
model::MpiLateness shown_lateness(const LateRanks& late) {
    model::MpiLateness sum;
    for (const model::MpiRankRow* row : late.rows) {
        sum.computing_s += row->lateness.computing_s;
        sum.irregular_s += row->lateness.irregular_s;
        sum.starved_s += row->lateness.starved_s;
        sum.interrupted_s += row->lateness.interrupted_s;
        sum.blocked_s += row->lateness.blocked_s;
        sum.waiting_s += row->lateness.waiting_s;
        sum.other_s += row->lateness.other_s;
    }
    return sum;
}

} // namespace

const char* LateReason::name() const {
    switch (kind) {
    case Kind::computing: return "computing";
    case Kind::irregular: return "irregular";
    case Kind::starved: return "starved";
    case Kind::interrupted: return "interrupted";
    case Kind::blocked: return "blocked";
    case Kind::waiting: break;
    }
    return "waiting";
}

std::string LateReason::words(bool one, const BlockedLines& blocked) const {
    switch (kind) {
    case Kind::computing:
        if (may_be_slower)
            return one ? "it computes longer than the others, because it has more to do or a slower CPU"
                       : "they compute longer than the others, because they have more to do or slower CPUs";
        return one ? "it computes more than the others" : "they compute more than the others";
    case Kind::irregular:
        return one ? "at times it is busy outside MPI longer than the others"
                   : "at times they are busy outside MPI longer than the others";
    case Kind::starved: return one ? "it waits for a CPU" : "they wait for CPUs";
    case Kind::interrupted: return one ? "at times it loses its CPU" : "at times they lose their CPUs";
    case Kind::blocked:
        if (by_lines)
            return fmt::format("{} blocked outside MPI, mostly in {}", one ? "it is" : "they are", blocked.what);
        return one ? "it sleeps or is blocked outside MPI" : "they sleep or are blocked outside MPI";
    case Kind::waiting: break;
    }
    return one ? "it waits for others itself" : "they wait for others themselves";
}

bool is_known_by_messages(const LateRanks& late) {
    return late.by_messages || shown_lateness(late).sum_s() < kLeastKnown * late.cost_s;
}

model::MpiLateness lateness_of(const model::MpiJob& job, const LateRanks& late) {
    if (!is_known_by_messages(late) && late.behind.empty())
        return shown_lateness(late);
    const Surplus surplus = surplus_of(job, late);
    model::MpiLateness sum;
    sum.starved_s = std::min(surplus.delay_s, surplus.compute_s);
    sum.blocked_s = std::min(surplus.asleep_s, surplus.compute_s - sum.starved_s);
    sum.computing_s = surplus.busy_s();
    return sum;
}

std::optional<LateReason> late_reason(const model::Run& run, const model::MpiJob& job, const LateRanks& late, double cost_s,
                                      const model::MpiLateness& lateness, const ExcessTimeLines& extra,
                                      const BlockedLines& blocked) {
    using Kind = LateReason::Kind;
    const double work_s = lateness.computing_s + lateness.irregular_s;
    const double no_cpu_s = std::max(0.0, lateness.starved_s + lateness.interrupted_s - recorder_s(run, late));
    const double most_s = std::max({work_s, no_cpu_s, lateness.blocked_s, lateness.waiting_s});
    const double least_s = (late.by_messages ? kLeastKnownByMessages : kLeastKnown) * cost_s;
    if (lateness.other_s > most_s || most_s < kLeastOfLateness * lateness.sum_s() || lateness.sum_s() < least_s)
        return {};
    if (most_s == work_s) {
        LateReason reason{.kind = lateness.computing_s >= lateness.irregular_s ? Kind::computing : Kind::irregular,
                          .by_lines = extra.cpu_s >= kLeastOfWork * work_s};
        const bool own_lines = reason.by_lines && extra.usual_share < kOwnLines;
        const Surplus surplus = surplus_of(job, late);
        // What many samples spread over so many lines that none is certain, is taken for the same work if all ranks compute.
        const bool all_compute = surplus.usual_compute_s >= kOwnLines * (surplus.usual_compute_s + surplus.compute_s);
        reason.same_work = reason.by_lines ? !own_lines : extra.samples >= kEnoughSamples && all_compute;
        const bool has_more_to_do = surplus.busy_s() >= kMoreToDo * surplus.usual_compute_s;
        const double surely = is_known_by_messages(late) ? kSurelyMoreByMessages : kSurelyMoreToDo;
        reason.may_be_slower = !surplus.is_beyond_spread && surplus.busy_s() < surely * surplus.usual_compute_s &&
                               !own_lines;
        const bool is_known = reason.by_lines ? has_more_to_do || own_lines
                                              : has_more_to_do && reason.kind == Kind::computing &&
                                                    (extra.samples < kEnoughSamples ||
                                                     surplus.busy_s() >= surely * surplus.usual_compute_s);
        return is_known ? std::optional(reason) : std::nullopt;
    }
    if (most_s == no_cpu_s && starved_share(late.rows) < kLacksCpu)
        return {};
    if (most_s == no_cpu_s)
        return LateReason{lateness.starved_s >= lateness.interrupted_s ? Kind::starved : Kind::interrupted};
    if (most_s == lateness.blocked_s)
        return LateReason{Kind::blocked, blocked.seconds >= kLeastOfBlocked * lateness.blocked_s};
    return LateReason{Kind::waiting};
}

} // namespace plumb
