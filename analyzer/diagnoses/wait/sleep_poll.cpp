// A loop that sleeps and looks, again and again, while nothing else of the run goes on.
//
// Not every loop that sleeps looks for something: it may keep a period. One that sleeps until an absolute time does, and is no
// finding. Of others it is certain only where another thread worked and blocked while they slept: what it brought was there
// for the rest of the sleep. Where the lengths asked for differ, they are computed, as the rest of a period is: nothing is
// certain then.
#include "analyses/lines/line_shares.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"
#include "model/source_line.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace plumb {

namespace {

constexpr uint64_t kManySleeps = 20; // fewer may be pauses that somebody asked for
constexpr size_t kMostSleepers = 2;
constexpr uint64_t kSmallPart = 50; // a thread that runs for a fiftieth of the sleeper's time brings it nothing

struct Sleeper {
    double asleep_s = 0, alone_s = 0, quiet_s = 0, overdue_s = 0;
    uint64_t looks = 0, sleeps = 0, shortest_ask_ns = UINT64_MAX, longest_ask_ns = 0;
    std::set<const model::BlockedSite*> sites;
    LineShares lines;

    // How many of the looks found it asleep in this part of its sleep.
    uint64_t looks_in(double part_s) const {
        const double share = asleep_s > 0 ? std::min(1.0, part_s / asleep_s) : 0;
        return static_cast<uint64_t>(std::llround(share * static_cast<double>(looks)));
    }
    bool differs() const { return shortest_ask_ns < longest_ask_ns; }
    double idle_s() const { return std::max(alone_s, quiet_s); }
};

class SleepPoll : public Diagnosis {
  public:
    const char* id() const override { return "sleep-poll"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::map<model::SourceLine, Sleeper> sleepers;
        for (const Wait& wait : replay.waits()) {
            if (wait.what.kind != WaitKind::sleep || wait.site->path == 0 || keeps_period(*wait.site) ||
                holds_lock(input.run.processes[wait.process], *wait.site))
                continue;
            const model::SourceFrame frame = input.paths.user_frame(wait.process, wait.site->path);
            Sleeper& sleeper = sleepers[model::source_line(frame)];
            sleeper.asleep_s += wait.seconds;
            sleeper.alone_s += wait.alone_s;
            sleeper.quiet_s += wait.quiet_s;
            if (!works_with_its_team_alone(input.run, wait.process, wait.site->thread))
                sleeper.overdue_s += wait.overdue_s;
            if (wait.site->shortest_ask_ns != 0)
                sleeper.shortest_ask_ns = std::min(sleeper.shortest_ask_ns, wait.site->shortest_ask_ns);
            sleeper.longest_ask_ns = std::max(sleeper.longest_ask_ns, wait.site->longest_ask_ns);
            sleeper.looks += wait.site->looks;
            sleeper.sleeps += wait.count;
            sleeper.sites.insert(wait.site);
            sleeper.lines.add(frame, wait.seconds);
        }
        std::vector<Finding> findings;
        for (const auto& [line, sleeper] : sleepers)
            if (sleeper.sleeps >= kManySleeps && (is_known(sleeper, sleeper.alone_s, replay) || is_known(sleeper, sleeper.overdue_s, replay)))
                findings.push_back(finding_of(input, replay, sleeper));
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) {
            return std::pair(finding.gain.certain(), finding.cost.seconds);
        });
        findings.resize(std::min(findings.size(), kMostSleepers));
        return findings;
    }

  private:
    static bool is_known(const Sleeper& sleeper, double part_s, const WaitReplay& replay) {
        return is_known_well(sleeper.looks_in(part_s), part_s / replay.wall_s());
    }

    // All threads that work besides are of OpenMP teams that it starts: their work is done before it goes to sleep, although they spin
    // for a while afterwards.
    static bool works_with_its_team_alone(const model::Run& run, uint32_t process, uint32_t sleeper) {
        if (!run.processes[process].openmp)
            return false;
        std::set<uint32_t> team;
        for (const model::OmpRegion& region : run.processes[process].openmp->regions)
            if (std::ranges::find(region.masters, sleeper) != region.masters.end())
                for (const model::OmpPart& part : region.parts)
                    team.insert(part.thread);
        if (team.empty())
            return false;
        const uint64_t least_ns = run.processes[process].threads[sleeper].run_ns / kSmallPart;
        for (size_t other = 0; other < run.processes.size(); ++other)
            for (uint32_t thread = 0; thread < run.processes[other].threads.size(); ++thread) {
                const bool is_of_team = other == process && (thread == sleeper || team.contains(thread));
                if (!is_of_team && run.processes[other].threads[thread].run_ns > least_ns)
                    return false;
            }
        return true;
    }

    static bool keeps_period(const model::BlockedSite& site) { return 2 * site.at_set_time > site.waits; }

    // Others wait for a lock that it holds in its sleep: the lock is what to look at.
    static bool holds_lock(const model::Process& process, const model::BlockedSite& site) {
        return std::ranges::any_of(process.lock_holders, [&](const model::LockHolder& lock) {
            return lock.holder == site.thread && lock.holder_path == site.path;
        });
    }

    static const char* how_of(const Sleeper& sleeper, bool certain) {
        if (certain)
            return "if what the loop waits for is there at once; certain is only the rest of each sleep after another thread had "
                   "worked, and that only if the loop waits for this thread";
        return sleeper.differs() ? "if the loop waits for something; its sleeps differ in length, as those of a loop that keeps a "
                                   "period do"
                                 : "if the loop waits for something; no other thread is known to have worked during its sleeps, so "
                                   "that it may keep a period";
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const Sleeper& sleeper) const {
        const double wall_s = replay.wall_s();
        const auto gain_of = [&](double part_s) {
            return (wall_s - replay.without(part_s, [&](const Wait& wait) { return sleeper.sites.contains(wait.site); })) / wall_s;
        };
        const bool certain = !sleeper.differs() && is_known(sleeper, sleeper.overdue_s, replay);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.cost.seconds = std::min(wall_s, sleeper.idle_s());
        finding.cost.fraction = finding.cost.seconds / wall_s;
        finding.where = sleeper.lines.heaviest(3);
        finding.title = fmt::format("A loop sleeps for {:.0f} % of the run while nothing else happens", 100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", at " + place_name(finding.where[0]);
        finding.gain = {gain_of(sleeper.idle_s()), how_of(sleeper, certain), certain ? gain_of(sleeper.overdue_s) : 0, true};
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "sleep" : place_name(finding.where[0]);
        finding.evidence["asleep_seconds"] = sleeper.asleep_s;
        finding.evidence["look_count"] = static_cast<int64_t>(sleeper.looks);
        finding.evidence["least_sleep_count"] = static_cast<int64_t>(sleeper.sleeps);
        finding.evidence["overdue_seconds"] = sleeper.overdue_s;
        if (sleeper.longest_ask_ns != 0) {
            finding.evidence["shortest_requested_seconds"] = static_cast<double>(sleeper.shortest_ask_ns) * 1e-9;
            finding.evidence["longest_requested_seconds"] = static_cast<double>(sleeper.longest_ask_ns) * 1e-9;
        }
        finding.advice.push_back({"Wait for the event instead of looking for it",
            "a condition variable, poll() or inotify wakes the thread when there is something to do; if it must poll, a "
            "shorter sleep costs less time", "code", ""});
        note_unplaced(sleeper.lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_sleep_poll() { return std::make_unique<SleepPoll>(); }

} // namespace plumb
