// A loop that sleeps and looks, again and again, while nothing else of the run goes on.
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

namespace plumb {

namespace {

constexpr uint64_t kManySleeps = 20; // fewer may be pauses that somebody asked for
constexpr size_t kMostFindings = 2;

struct Sleeper {
    double asleep_s = 0, alone_s = 0;
    uint64_t looks = 0, sleeps = 0;
    std::set<const model::BlockedSite*> sites;
    LineShares lines;
};

class SleepPoll : public Diagnosis {
  public:
    const char* id() const override { return "sleep-poll"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::map<model::SourceLine, Sleeper> sleepers;
        for (const Wait& wait : replay.waits()) {
            if (wait.what.kind != WaitKind::sleep || wait.site->path == 0 || holds_lock(input.run.processes[wait.process], *wait.site))
                continue;
            const model::SourceFrame frame = input.paths.user_frame(wait.process, wait.site->path);
            Sleeper& sleeper = sleepers[model::source_line(frame)];
            sleeper.asleep_s += wait.seconds;
            sleeper.alone_s += wait.alone_s;
            sleeper.looks += wait.site->looks;
            sleeper.sleeps += wait.count;
            sleeper.sites.insert(wait.site);
            sleeper.lines.add(frame, wait.seconds);
        }
        std::vector<const Sleeper*> order;
        for (const auto& [line, sleeper] : sleepers)
            if (sleeper.sleeps >= kManySleeps && is_known_well(alone_looks(sleeper), sleeper.alone_s / replay.wall_s()))
                order.push_back(&sleeper);
        std::ranges::stable_sort(order, std::greater<>(), &Sleeper::alone_s);
        order.resize(std::min(order.size(), kMostFindings));
        std::vector<Finding> findings;
        for (const Sleeper* sleeper : order)
            findings.push_back(finding_of(input, replay, *sleeper));
        return findings;
    }

  private:
    // That found it asleep while nothing else went on.
    static uint64_t alone_looks(const Sleeper& sleeper) {
        const double share = sleeper.asleep_s > 0 ? std::min(1.0, sleeper.alone_s / sleeper.asleep_s) : 0;
        return static_cast<uint64_t>(std::llround(share * static_cast<double>(sleeper.looks)));
    }

    // Others wait for a lock that it holds in its sleep: the lock is what to look at.
    static bool holds_lock(const model::Process& process, const model::BlockedSite& site) {
        return std::ranges::any_of(process.lock_holders, [&](const model::LockHolder& lock) {
            return lock.holder == site.thread && lock.holder_path == site.path;
        });
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const Sleeper& sleeper) const {
        const double wall_s = replay.wall_s();
        const double without_s =
            replay.without(sleeper.alone_s, [&](const Wait& wait) { return sleeper.sites.contains(wait.site); });
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.cost.seconds = sleeper.alone_s;
        finding.cost.fraction = std::min(1.0, sleeper.alone_s / wall_s);
        finding.where = sleeper.lines.heaviest(3);
        finding.title = fmt::format("A loop sleeps for {:.0f} % of the run while nothing else happens", 100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", at " + place_name(finding.where[0]);
        finding.gain = {(wall_s - without_s) / wall_s,
                        "if what the loop waits for is there at once; what that is was not seen", std::nullopt, true};
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "sleep" : place_name(finding.where[0]);
        finding.evidence["asleep_seconds"] = sleeper.asleep_s;
        finding.evidence["look_count"] = static_cast<int64_t>(sleeper.looks);
        finding.evidence["least_sleep_count"] = static_cast<int64_t>(sleeper.sleeps);
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
