// Ranks that did not end MPI because they were killed, aborted, or still run: which call each is in, and whom it waits for.
// Ranks that wait in a ring, for a member that does not come to a collective, or for a message that was sent otherwise are
// distinguished from ranks that were merely at work.
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/mpi/pending_words.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

namespace {

using model::MpiAwaited;
using model::MpiPending;
using model::MpiPendingRank;
using State = MpiPendingRank::State;

constexpr size_t kMostPendingRanksNamed = 16;
constexpr double kRingProven = 0.95, kRingLikely = 0.6;
constexpr double kIncomplete = 0.8, kStray = 0.8, kWhere = 0.9, kFirstEnd = 0.85;
constexpr double kShortWait_s = 0.25; // for a member that is about to come
constexpr double kLongBefore_s = 1; // that others waited for a rank before it ended: not coming was the first trouble

class MpiPendingCalls : public Diagnosis {
  public:
    const char* id() const override { return "mpi-pending"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            const MpiPending& pending = job.pending;
            if (pending.ranks.empty())
                continue;
            const PendingWords words(input, job);
            const size_t before = findings.size();
            if (!pending.aborting.empty())
                findings.push_back(aborted(input, job, words));
            if (!pending.ring.empty())
                findings.push_back(ring(input, job, words));
            const bool tells_first = tells_first_end(pending);
            if (tells_first)
                findings.push_back(first_end(input, job, words));
            // Who ended could not send what another one waits for.
            const size_t before_strays = findings.size();
            for (const model::MpiStrayMessage& stray : pending.strays)
                if (!tells_first || stray.sender != words.rank(pending.ended_first).rank)
                    findings.push_back(stray_message(input, job, words, stray));
            // What a ring or an ended rank holds up is not another cause.
            if (pending.ring.empty() && !tells_first && findings.size() == before_strays)
                for (const model::MpiIncomplete& incomplete : pending.collectives)
                    findings.push_back(missing(input, job, words, incomplete));
            if (findings.size() == before)
                findings.push_back(where_all_are(input, job, words));
        }
        return findings;
    }

  private:
    Finding base(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words, const LineShares& lines,
                 double cost_s) const {
        Finding finding;
        finding.id = id();
        finding.cost.seconds = cost_s;
        finding.cost.fraction = std::min(1.0, fraction_of_run(input.run, cost_s));
        finding.cost.how = "bound";
        finding.where = lines.heaviest(5);
        finding.evidence["unfinished_rank_count"] = static_cast<int64_t>(job.pending.ranks.size());
        finding.evidence["finished_rank_count"] = static_cast<int64_t>(job.pending.finished);
        std::vector<std::string> named;
        for (const MpiPendingRank& rank : job.pending.ranks)
            if (named.size() < kMostPendingRanksNamed)
                named.push_back(words.line(rank));
        finding.evidence["ranks"] = named;
        if (job.pending.ranks.size() > kMostPendingRanksNamed)
            finding.evidence["more_rank_count"] = static_cast<int64_t>(job.pending.ranks.size() - kMostPendingRanksNamed);
        return finding;
    }

    Finding ring(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words) const {
        const std::vector<uint32_t>& places = job.pending.ring;
        LineShares lines;
        for (const uint32_t place : places)
            words.add(lines, words.rank(place), 1);
        const double since_s = words.shortest_s(places);
        Finding finding = base(input, job, words, lines, since_s);
        const std::vector<int> ranks = words.numbers(places);
        std::vector<std::string> steps;
        for (size_t i = 0; i < std::min(ranks.size(), PendingWords::kMostNamed); ++i)
            steps.push_back(fmt::format("{} for {}", ranks[i], ranks[(i + 1) % ranks.size()]));
        finding.title = fmt::format("Deadlock: {} for one another: {}{}{}", ranks.size() == 1 ? "a rank waits" : "ranks wait",
                                    fmt::join(steps, ", "), ranks.size() > PendingWords::kMostNamed ? ", ..." : "", words.line_of(places));
        const Gain all_of_it = {finding.cost.fraction, "", std::nullopt}; // a ring that is only likely counts by its time
        finding.fixed_severity = job.pending.ring_proven
                                     ? Severity::high
                                     : severity_of(all_of_it, static_cast<double>(input.run.wall_ns()) * 1e-9);
        finding.confidence = job.pending.ring_proven ? kRingProven : kRingLikely;
        finding.gain = {0, "the program can never end"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(ranks[0]);
        finding.evidence["ring"] = std::vector<int64_t>(ranks.begin(), ranks.end());
        finding.evidence["proven"] = job.pending.ring_proven;
        finding.evidence["stuck_seconds"] = since_s;
        finding.advice.push_back({"Break the ring",
            "start the receive before the send (MPI_Irecv, MPI_Sendrecv), or let one of the ranks send first while its partner "
            "receives", "code", ""});
        return finding;
    }

    // The program ended itself: where, and what the others were about.
    Finding aborted(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words) const {
        const std::vector<uint32_t>& aborting = job.pending.aborting;
        LineShares lines; // where it aborted comes first
        std::vector<uint32_t> others;
        for (uint32_t place = 0; place < job.pending.ranks.size(); ++place) {
            const bool is_cause = job.pending.ranks[place].aborted;
            words.add(lines, words.rank(place), is_cause ? static_cast<double>(job.pending.ranks.size()) : 1);
            if (!is_cause)
                others.push_back(place);
        }
        Finding finding = base(input, job, words, lines, 0);
        const std::vector<int> ranks = words.numbers(aborting);
        finding.title = fmt::format("{} called MPI_Abort{}", capitalised(ranks_words(ranks)), words.line_of(aborting));
        if (!others.empty())
            finding.title += fmt::format(", {} was {}{}", ranks_words(words.numbers({others[0]})), words.doing(words.rank(others[0])),
                                         others_words(others.size() - 1));
        finding.fixed_severity = Severity::info;
        finding.confidence = kWhere;
        finding.gain = {0, "none: this is where the program aborted itself"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(ranks[0]);
        finding.evidence["aborting_ranks"] = std::vector<int64_t>(ranks.begin(), ranks.end());
        return finding;
    }

    // Ranks that waited for one another, or in different collectives, did so before one of them was ended.
    static bool tells_first_end(const MpiPending& pending) {
        return pending.ended_first < pending.ranks.size() && pending.ring.empty() &&
               std::ranges::none_of(pending.collectives, &model::MpiIncomplete::calls_differ);
    }

    // Those that are inside of a call; the last ones of a collective that it did not come to, if there are such.
    static std::vector<uint32_t> left_waiting(const MpiPending& pending) {
        for (const model::MpiIncomplete& incomplete : pending.collectives)
            if (std::ranges::find(incomplete.missing, pending.ended_first) != incomplete.missing.end())
                return incomplete.inside;
        std::vector<uint32_t> inside;
        for (uint32_t place = 0; place < pending.ranks.size(); ++place)
            if (place != pending.ended_first && pending.ranks[place].state == State::inside)
                inside.push_back(place);
        return inside;
    }

    Finding first_end(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words) const {
        const MpiPendingRank& first = words.rank(job.pending.ended_first);
        const std::vector<uint32_t> waiting = left_waiting(job.pending);
        LineShares lines; // where it was comes first
        words.add(lines, first, 2.0 * static_cast<double>(waiting.size() + 1));
        double before_s = 0, after_s = 0;
        bool same_call = true;
        for (const uint32_t place : waiting) {
            const MpiPendingRank& rank = words.rank(place);
            words.add(lines, rank, 1);
            same_call &= rank.call == words.rank(waiting[0]).call;
            if (rank.for_s < 0)
                continue;
            const double begin_s = rank.end_s - rank.for_s;
            before_s = std::max(before_s, first.end_s - begin_s);
            after_s = std::max(after_s, rank.end_s - std::max(begin_s, first.end_s));
        }
        Finding finding = base(input, job, words, lines, after_s);
        finding.title = fmt::format("Rank {} ended first, {}", first.rank, how_it_ended(first));
        if (!waiting.empty())
            finding.title += fmt::format(", while {} {} in {}{}", ranks_words(words.numbers(waiting)),
                                         waiting.size() == 1 ? "was" : "were",
                                         same_call ? words.rank(waiting[0]).call : "MPI", words.line_of(waiting));
        finding.fixed_severity = Severity::high;
        finding.confidence = kFirstEnd;
        finding.gain = {0, "the program cannot continue without that rank"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(first.rank);
        const std::vector<int> numbers = words.numbers(waiting);
        finding.evidence["waiting_ranks"] = std::vector<int64_t>(numbers.begin(), numbers.end());
        finding.evidence["ended_after_seconds"] = first.end_s;
        if (first.signal != 0)
            finding.evidence["signal_number"] = static_cast<int64_t>(first.signal);
        finding.advice.push_back(why_it_ended(first));
        if (before_s >= kLongBefore_s) {
            finding.evidence["waited_before_seconds"] = before_s;
            finding.advice.push_back({"Find out why it did not arrive",
                "the others were already waiting for it when it ended: look for a loop that it does not leave, or for a branch "
                "that only it takes", "code", ""});
        }
        return finding;
    }

    static std::string how_it_ended(const MpiPendingRank& rank) {
        if (rank.signal != 0)
            return fmt::format("killed by {} at {}", signal_words(rank.signal), format_seconds(rank.end_s));
        if (rank.state == State::ended)
            return fmt::format("by itself and without MPI_Finalize{} at {}",
                               rank.exit_status > 0 ? fmt::format(" (exit status {})", rank.exit_status) : "",
                               format_seconds(rank.end_s));
        return fmt::format("at {} (how is not recorded)", format_seconds(rank.end_s));
    }

    static Advice why_it_ended(const MpiPendingRank& rank) {
        switch (rank.signal) {
        case 0:
            break;
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGABRT:
        case SIGSYS:
            return {"Find the crash", "let the rank leave a core dump (ulimit -c unlimited) and open it in a debugger, or build "
                    "the program with -g -fsanitize=address,undefined", "code", ""};
        default:
            return {"Find out who sent the signal", "the kernel when memory ran out (see dmesg and the log of the batch "
                                                    "system), a memory or time limit of the batch system, or a "
                                                    "person", "system", ""};
        }
        if (rank.state == State::ended)
            return {"Let no rank end early", "look for an error path that calls exit() or returns from main(): the rank must "
                                             "call MPI_Finalize as the others do, or MPI_Abort, which ends all "
                                             "ranks", "code", ""};
        return {"Find out why it ended", "it may have crashed, run out of memory, or hit a limit of the batch system: see its "
                                         "output, the launcher's last message and the system log (dmesg)", "system", ""};
    }

    Finding missing(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words,
                    const model::MpiIncomplete& incomplete) const {
        LineShares lines; // where the missing ones are comes first: that is where to look
        for (const uint32_t place : incomplete.missing)
            words.add(lines, words.rank(place), 2.0 * static_cast<double>(incomplete.inside.size()));
        for (const uint32_t place : incomplete.inside)
            words.add(lines, words.rank(place), 1);
        const double waited_s = words.longest_s(incomplete.inside);
        Finding finding = base(input, job, words, lines, waited_s);
        const std::vector<int> inside = words.numbers(incomplete.inside), missing = words.numbers(incomplete.missing);
        finding.confidence = kIncomplete;
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(missing.empty() ? inside[0] : missing[0]);
        if (incomplete.calls_differ) {
            std::vector<std::string> different;
            for (const uint32_t place : incomplete.inside)
                if (different.size() < PendingWords::kMostNamed)
                    different.push_back(fmt::format("rank {} {}", words.rank(place).rank, words.doing(words.rank(place))));
            finding.title = fmt::format("Members of one communicator are in different collectives: {}", fmt::join(different, ", "));
            finding.fixed_severity = Severity::high;
        } else {
            finding.title = fmt::format("{} {} in {}{}", capitalised(ranks_words(inside)), inside.size() == 1 ? "waits" : "wait",
                                        incomplete.call, words.line_of(incomplete.inside));
            if (missing.size() == 1)
                finding.title += missing_words(words, words.rank(incomplete.missing[0]));
            else if (!missing.empty())
                finding.title += fmt::format(" for {}{}", ranks_words(missing), words.line_of(incomplete.missing));
            else
                finding.title += fmt::format(" for {} members that were not recorded", incomplete.not_recorded);
        }
        finding.gain = {finding.cost.fraction, "upper bound: the waiting of the rank that came first", std::nullopt, true};
        finding.evidence["waiting_ranks"] = std::vector<int64_t>(inside.begin(), inside.end());
        finding.evidence["missing_ranks"] = std::vector<int64_t>(missing.begin(), missing.end());
        finding.evidence["waited_seconds"] = waited_s;
        // One of them may have ended first, and its launcher the others at once.
        const bool ended = std::ranges::any_of(job.pending.ranks, &MpiPendingRank::end_seen);
        if (missing.size() == 1 && waited_s < kShortWait_s && ended) {
            finding.advice.push_back(why_it_ended(words.rank(incomplete.missing[0])));
            return finding;
        }
        finding.advice.push_back({"Let every member call it",
            "all members of a communicator must call its collectives, in the same order: look for a branch, a loop count or an "
            "error path that only some ranks take", "code", ""});
        return finding;
    }

    // Its signal, too, although others may have got one before.
    static std::string missing_words(const PendingWords& words, const MpiPendingRank& rank) {
        return fmt::format(" for rank {}, which is {}{}", rank.rank, words.doing(rank),
                           rank.signal == 0 ? "" : end_words(rank));
    }

    Finding stray_message(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words,
                          const model::MpiStrayMessage& stray) const {
        const MpiPendingRank& waiting = words.rank(stray.waiting);
        LineShares lines;
        words.add(lines, waiting, 2);
        lines.add(input.paths.user_frame(stray.process, stray.path), 1);
        Finding finding = base(input, job, words, lines, std::max(0.0, waiting.for_s));
        finding.fixed_severity = Severity::high;
        finding.confidence = kStray;
        LineShares sent;
        sent.add(input.paths.user_frame(stray.process, stray.path), 1);
        const std::vector<Location> sender = sent.heaviest(1);
        finding.title = fmt::format("Rank {} is {}, but rank {} sent it {} with tag {}{}{}, not received", waiting.rank,
                                    words.doing(waiting), stray.sender,
                                    stray.messages == 1 ? "a message" : fmt::format("{} messages", stray.messages), stray.tag,
                                    stray.other_comm ? " on another communicator" : "",
                                    sender.empty() ? "" : " at " + place_name(sender[0]));
        finding.gain = {0, "the program can never end"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(waiting.rank);
        finding.evidence["sender_rank"] = static_cast<int64_t>(stray.sender);
        finding.evidence["sent_tag"] = static_cast<int64_t>(stray.tag);
        finding.evidence["not_received_message_count"] = static_cast<int64_t>(stray.messages);
        finding.evidence["waited_seconds"] = std::max(0.0, waiting.for_s);
        finding.advice.push_back({"Make sender and receiver agree",
            "a receive takes only messages of its communicator, source and tag: compare those of the two lines", "code", ""});
        return finding;
    }

    // Nothing more than where they are: what a job that was killed at work shows.
    Finding where_all_are(const DiagnosisInput& input, const model::MpiJob& job, const PendingWords& words) const {
        LineShares lines;
        std::vector<uint32_t> inside;
        double least_s = -1;
        for (uint32_t place = 0; place < job.pending.ranks.size(); ++place) {
            const MpiPendingRank& rank = words.rank(place);
            words.add(lines, rank, 1);
            if (rank.state == State::inside) {
                inside.push_back(place);
                least_s = least_s < 0 ? rank.for_s : std::min(least_s, rank.for_s);
            }
        }
        // Nobody makes progress only where all of them are in MPI.
        const bool all = inside.size() == job.pending.ranks.size();
        Finding finding = base(input, job, words, lines, all ? std::max(0.0, least_s) : 0);
        finding.fixed_severity = Severity::info;
        finding.confidence = kWhere;
        const MpiPendingRank& first = words.rank(inside.empty() ? 0 : inside[0]);
        finding.title = fmt::format("{} of {} did not end MPI: rank {} is {}", job.pending.ranks.size(), job_words(input.run, job),
                                    first.rank, words.doing(first));
        finding.title += others_words(job.pending.ranks.size() - 1);
        finding.gain = {0, "none: this is where they were"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(first.rank);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_pending() { return std::make_unique<MpiPendingCalls>(); }

} // namespace plumb
