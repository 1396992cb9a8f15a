// Ranks that make the others wait, one alone or several together: who, on which line, and why.
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/mpi/common_trait.h"
#include "diagnoses/mpi/late_reason.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/registry.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostFindings = 4;
constexpr size_t kMostLateRanksNamed = 64;
constexpr double kMostlyNoise = 0.5; // of what their being late costs
constexpr size_t kCrowd = 3; // so many ranks are not late alike by chance

std::vector<int> numbers_of(const LateRanks& late) {
    std::vector<int> numbers;
    for (const model::MpiRankRow* row : late.rows)
        numbers.push_back(row->rank);
    return numbers;
}

std::string ranks_words(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", ranks_in_words(ranks));
}

// What is said of one rank, or of several as one.
struct LateCase {
    LateRanks late;
    CommonTrait trait;
    ExcessTimeLines extra;
    BlockedLines blocked;
    std::vector<int> with; // others that are late alike, for another reason: either side hides the other

    std::string name() const {
        return ranks_words(numbers_of(late)) + (trait.words.empty() ? "" : fmt::format(" ({})", trait.words));
    }
};

std::vector<Advice> several_compute_more(const LateCase& late_case, const std::string& place) {
    std::vector<Advice> advice;
    if (late_case.trait.kind == CommonTrait::Kind::node)
        advice.push_back({"Compare the nodes", fmt::format("all ranks of {} are slow: if they have no more work than the others, look at the "
                          "clock rate, memory and other programs of that node", late_case.trait.words), "system", ""});
    if (late_case.trait.kind == CommonTrait::Kind::executable)
        advice.push_back({"Give this program more ranks", fmt::format("the ranks of {} have more work than those of the job's "
                                                                      "other programs: start more of them, and fewer of the "
                                                                      "others", late_case.trait.words), "launch", ""});
    advice.push_back({"Divide their extra work",
                      place.empty() ? std::string("all others wait while only these ranks do it")
                                    : fmt::format("all others wait for what only these ranks do at {}: divide it among all "
                                                  "ranks", place), "code", ""});
    return advice;
}

std::vector<Advice> advice_for(const LateReason& reason, const LateCase& late_case, const std::string& place) {
    const bool one = late_case.late.rows.size() == 1;
    if (reason.lacks_cpu())
        return {{one ? "Give the rank a CPU of its own" : "Give each of them a CPU of its own",
                 "bind each rank to a core (mpirun --bind-to core, srun --cpu-bind=cores, or plumb's --pin) and keep other "
                 "programs off that core", "launch", ""}};
    if (reason.kind == LateReason::Kind::blocked && reason.by_lines)
        return {{"Let the others not wait for it",
                 fmt::format("all others wait while {} is in {}: do it less often, in a thread of its own, or while the other "
                             "ranks continue", one ? "this rank" : "each of these ranks", late_case.blocked.what), "code", ""}};
    if (reason.kind == LateReason::Kind::blocked)
        return {{"Check what it waits for outside MPI",
                 "a file, a lock, a pipe or a sleep between its MPI calls: `strace -f -T` on such a rank shows the system "
                 "calls and their times; let another thread do it, or do it while the other ranks continue", "code", ""}};
    if (reason.kind == LateReason::Kind::waiting)
        return {one ? Advice{"Check the ranks that it waits for", "other MPI calls passed the delay on to it", "code", ""}
                    : Advice{"Check the ranks that they wait for", "other MPI calls passed the delay on to them", "code", ""}};
    if (!one)
        return several_compute_more(late_case, place);
    return {{"Divide its extra work", place.empty() ? std::string("all others wait for what only this rank does (output, checks, a "
                                                              "larger part of the grid)")
                                                   : fmt::format("all others wait for what only this rank does at {}: divide "
                                                                 "it among the ranks, or let this rank do it while the others "
                                                                 "continue", place),
             "code", ""}};
}

// Whether what ranks that are late alike have more to do is the same.
bool belong_together(const LateCase& late_case) {
    if (late_case.late.rows.size() == 1 || late_case.trait.is_place())
        return true;
    if (late_case.extra.known)
        return late_case.extra.is_shared;
    return late_case.trait.kind != CommonTrait::Kind::none || late_case.late.rows.size() >= kCrowd;
}

LateCase late_case_of(const DiagnosisInput& input, const model::MpiJob& job, LateRanks late) {
    CommonTrait trait = common_trait(input.run, job, late.rows);
    ExcessTimeLines extra = excess_time_lines(input.paths, job, late.rows);
    BlockedLines blocked = blocked_lines(input.paths, job, late.rows);
    return {std::move(late), std::move(trait), std::move(extra), std::move(blocked), {}};
}

// Those that are late alike by chance are reported one by one.
std::vector<LateCase> parts_of(const DiagnosisInput& input, const model::MpiJob& job, const LateRanks& late) {
    LateCase whole = late_case_of(input, job, late);
    std::vector<LateCase> parts;
    if (belong_together(whole) || whole.extra.parts.size() < 2) {
        parts.push_back(std::move(whole));
        return parts;
    }
    for (const std::vector<size_t>& members : whole.extra.parts) {
        LateRanks part = late;
        part.rows.clear();
        for (const size_t member : members)
            part.rows.push_back(late.rows[member]);
        LateCase& late_case = parts.emplace_back(late_case_of(input, job, std::move(part)));
        for (const model::MpiRankRow* row : late.rows)
            if (!late_case.late.has(*row))
                late_case.with.push_back(row->rank);
    }
    return parts;
}

class MpiLateRank : public Diagnosis {
  public:
    const char* id() const override { return "mpi-late-rank"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            size_t made = 0;
            for (const LateRanks& late : late_ranks(input.run, job)) {
                if (made >= kMostFindings)
                    break;
                for (const LateCase& late_case : parts_of(input, job, late)) {
                    std::optional<Finding> finding = finding_of(input, job, late_case);
                    if (finding && made++ < kMostFindings)
                        findings.push_back(std::move(*finding));
                }
            }
        }
        return findings;
    }

  private:
    // Nothing where the reason is not known.
    std::optional<Finding> finding_of(const DiagnosisInput& input, const model::MpiJob& job, const LateCase& late_case) const {
        const LateRanks& late = late_case.late;
        const model::MpiLateness lateness = lateness_of(job, late);
        // Of ranks that hide one another each comes last to a part of the collectives only.
        const double part = static_cast<double>(late.rows.size()) / static_cast<double>(late.rows.size() + late_case.with.size());
        const std::optional<LateReason> known =
            late_reason(input.run, job, late, part * late.cost_s, lateness, late_case.extra, late_case.blocked);
        // Who took its CPU is known, and reported: the rank is not to blame (os-noise).
        if (!known || (known->lacks_cpu() && noise_seconds(input.run, job) >= kMostlyNoise * late.cost_s))
            return {};
        const LateReason& reason = *known;
        const bool one = late.rows.size() == 1, by_messages = is_known_by_messages(late);
        Finding finding;
        finding.id = id();
        finding.confidence = by_messages ? 0.7 : late_case.with.empty() ? 0.9 : 0.6;
        const LineShares* lines = !reason.by_lines ? nullptr : reason.is_own_work() ? &late_case.extra.lines : &late_case.blocked.lines;
        finding.where = lines ? lines->heaviest(5) : by_messages ? message_calls(input, late) : late_calls(input, late);
        const std::string place = finding.where.empty() ? std::string() : place_name(finding.where[0]);
        finding.title = fmt::format("{}{} for {}: {}", late.behind.empty() ? "" : fmt::format("Behind {}, ", ranks_words(late.behind)),
                                    waiting_words(input, job, late), late_case.name(), reason.words(one, late_case.blocked));
        if (!place.empty() && (reason.is_own_work() || reason.kind == LateReason::Kind::blocked))
            finding.title += lines         ? fmt::format(", at {}{}", place, by_messages || late.rows[0]->late_call.empty()
                                                                                 ? "" : ", before " + late.rows[0]->late_call)
                             : by_messages ? ", before " + place
                                           : fmt::format(", before {} at {}", late.rows[0]->late_call, place);
        set_cost(input, job, late_case, reason, finding);
        describe_subject(input, late_case, finding);
        finding.subject.details["reason"] = std::string(reason.name());
        add_evidence(job, late_case, lateness, finding);
        finding.advice = advice_for(reason, late_case, lines ? place : std::string());
        if (lines)
            note_unplaced(*lines, input.run, finding);
        // Ranks that alone lack CPUs are just what is to be found; whether those that wait have CPUs to wait on does not matter.
        allow_for_starved_ranks(reason.lacks_cpu() ? starved_share(job, &late) : starved_share(late.rows), finding);
        return finding;
    }

    // A larger part of the same work is cured by dividing it: each rank, the late ones too, then has its share of it. What only
    // they do may also be done elsewhere, or at another time.
    static void set_cost(const DiagnosisInput& input, const model::MpiJob& job, const LateCase& late_case, const LateReason& reason,
                         Finding& finding) {
        const LateRanks& late = late_case.late;
        const bool is_work = reason.is_own_work();
        const double divided = 1 - static_cast<double>(late.rows.size()) / static_cast<double>(std::max<size_t>(job.ranks.size(), 1));
        const bool same_work = is_work && reason.same_work;
        finding.cost.seconds = late.cost_s * (same_work ? divided : 1);
        finding.cost.fraction = fraction_of_run(input.run, finding.cost.seconds);
        finding.gain = {finding.cost.fraction, gain_words(late_case, same_work)};
        if (reason.may_be_slower)
            finding.gain.at_least = 0;
        if (is_work)
            finding.gain.how += same_work ? "" : fmt::format("; {:.0f} % if it is divided among all ranks",
                                                             100 * divided * finding.cost.fraction);
    }

    // "8 ranks wait", "The other rank waits"; with the job's name when the run has several.
    static std::string waiting_words(const DiagnosisInput& input, const model::MpiJob& job, const LateRanks& late) {
        const auto waiting = static_cast<size_t>(job.size) - std::min<size_t>(static_cast<size_t>(job.size), late.rows.size() + late.behind.size());
        const std::string of_job = input.run.mpi_jobs.size() < 2 || job.name.empty() ? "" : fmt::format(" of the job {}", job.name);
        if (waiting == 1)
            return fmt::format("{} other rank{} waits", late.behind.empty() ? "The" : "the", of_job);
        return fmt::format("{} ranks{} wait", waiting, of_job);
    }

    // Where they send and receive.
    static std::vector<Location> message_calls(const DiagnosisInput& input, const LateRanks& late) {
        LineShares lines;
        for (const model::MpiRankRow* row : late.rows)
            for (const model::MpiSite& site : input.run.processes[row->process].mpi->sites)
                if (site.kind & (trace::kMpiSend | trace::kMpiReceive))
                    lines.add(input.paths.user_frame(row->process, site.path), static_cast<double>(site.calls));
        return lines.heaviest(5);
    }

    // The collectives to which they came late.
    static std::vector<Location> late_calls(const DiagnosisInput& input, const LateRanks& late) {
        LineShares lines;
        for (const model::MpiRankRow* row : late.rows)
            if (row->late_path)
                lines.add(input.paths.user_frame(row->process, row->late_path), std::max(row->lateness_s, 1e-9));
        return lines.heaviest(5);
    }

    static std::string gain_words(const LateCase& late_case, bool same_work) {
        const LateRanks& late = late_case.late;
        const char* cure = same_work ? "with this work divided evenly" : late.rows.size() == 1
            ? "without this rank's extra work" : "without the extra work of these ranks";
        std::string words = late.by_messages
            ? fmt::format("the mean time that the other ranks waited for its messages, less its own waiting for theirs, {}", cure)
            : fmt::format("estimated by replaying the collectives {}", cure);
        if (late.rows.size() > 1 && !late.by_messages)
            words += "; curing only one of them gains nothing";
        if (!late_case.with.empty())
            words += fmt::format("; together with the cure of {}: either alone hides the other", ranks_words(late_case.with));
        if (!late.behind.empty())
            words += fmt::format("; in addition to the cure of {}, which must come first", ranks_words(late.behind));
        return words;
    }

    static void describe_subject(const DiagnosisInput& input, const LateCase& late_case, Finding& finding) {
        const std::vector<int> ranks = numbers_of(late_case.late);
        const model::MpiRankRow& first = *late_case.late.rows[0];
        finding.subject.kind = ranks.size() == 1 ? "rank" : "ranks";
        finding.subject.name = ranks.size() == 1 ? std::to_string(ranks[0]) : ranks_in_words(ranks);
        if (std::ranges::all_of(late_case.late.rows, [&](const auto* row) { return row->host == first.host; }))
            finding.subject.details["host"] = first.host < input.run.hosts.size() ? input.run.hosts[first.host].name : std::string();
        if (ranks.size() == 1 && first.delayed_by >= 0)
            finding.subject.details["delayed_by_rank"] = static_cast<int64_t>(first.delayed_by);
        if (!late_case.trait.words.empty())
            finding.subject.details["common"] = late_case.trait.words;
    }

    static std::vector<int64_t> first_of(const std::vector<int>& ranks) {
        return {ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(std::min(ranks.size(), kMostLateRanksNamed))};
    }

    static void add_evidence(const model::MpiJob& job, const LateCase& late_case, const model::MpiLateness& lateness, Finding& finding) {
        const auto sum = [&](const auto& of_row) {
            decltype(of_row(*late_case.late.rows[0])) all = 0;
            for (const model::MpiRankRow* row : late_case.late.rows)
                all += of_row(*row);
            return all;
        };
        const auto count = static_cast<double>(late_case.late.rows.size());
        using Row = model::MpiRankRow;
        if (late_case.late.rows.size() > 1) {
            finding.evidence["late_rank_count"] = static_cast<int64_t>(late_case.late.rows.size());
            finding.evidence["late_ranks"] = first_of(numbers_of(late_case.late));
        }
        if (!late_case.with.empty())
            finding.evidence["late_alike_ranks"] = first_of(late_case.with);
        if (!late_case.late.behind.empty())
            finding.evidence["hidden_behind_ranks"] = first_of(late_case.late.behind);
        finding.evidence["times_last_count"] = static_cast<int64_t>(sum([](const Row& row) { return row.times_last; }));
        finding.evidence["times_responsible_count"] = static_cast<int64_t>(sum([](const Row& row) { return row.times_responsible; }));
        finding.evidence["collective_count"] = static_cast<int64_t>(late_case.late.rows[0]->collectives);
        finding.evidence["caused_wait_rank_seconds"] = sum([](const Row& row) { return row.caused_wait_s; });
        finding.evidence["caused_message_wait_rank_seconds"] = sum([](const Row& row) { return row.caused_message_wait_s; });
        const double late_s = sum([](const Row& row) { return row.lateness_s; });
        finding.evidence["late_seconds"] = late_s;
        const std::pair<const char*, double> reasons[] = {
            {"late_computing_seconds", lateness.computing_s}, {"late_irregular_seconds", lateness.irregular_s},
            {"late_starved_seconds", lateness.starved_s},     {"late_interrupted_seconds", lateness.interrupted_s},
            {"late_blocked_seconds", lateness.blocked_s},     {"late_waiting_seconds", lateness.waiting_s},     {"late_other_seconds", lateness.other_s}};
        if (late_case.late.behind.empty())
            for (const auto& [key, value] : reasons)
                if (value > 0.01 * late_s)
                    finding.evidence[key] = value;
        finding.evidence["compute_seconds"] = sum([](const Row& row) { return row.compute_s; }) / count; // of one rank
        finding.evidence["run_delay_seconds"] = sum([](const Row& row) { return row.run_delay_s; }) / count;
        finding.evidence["involuntary_switch_count"] = static_cast<int64_t>(sum([](const Row& row) { return row.involuntary_switches; }));
        double all_s = 0;
        for (const Row& row : job.ranks)
            all_s += row.compute_s;
        finding.evidence["mean_compute_seconds"] = all_s / static_cast<double>(job.ranks.size());
        tell_thinning(job, finding);
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_late_rank() { return std::make_unique<MpiLateRank>(); }

} // namespace plumb
