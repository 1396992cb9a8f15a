// Java threads that wait for a monitor (synchronized) or, where the names of compiled Java code are known, for a lock of
// java.util.concurrent. The Java machine does not show from outside which one, nor who holds it.
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/turn_taking.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr const char* kNameJavaCode = "JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
                                      "-XX:+DumpPerfMapAtExit' plumb run -- java ...";

// Of what these threads do by themselves: whoever holds the lock does that, too. What of it happens inside is not known.
constexpr double kNearlyAll = 0.8;

class MonitorWait : public Diagnosis {
  public:
    const char* id() const override { return "monitor-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<Finding> findings;
        for (const TurnTaking& turns : turn_takings(input, replay, RuntimeLock::java))
            if (is_known_well(turns.looks, turns.least_s / replay.wall_s()))
                findings.push_back(finding_of(input, replay, turns));
        return findings;
    }

  private:
    static std::vector<std::string> names_of(const std::vector<Location>& lines) {
        std::vector<std::string> names;
        for (const Location& line : lines)
            names.push_back(place_name(line));
        return names;
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const TurnTaking& turns) const {
        const double wall_s = replay.wall_s();
        const double own_s = turns.asleep_s + turns.running_s, asleep = own_s > 0 ? turns.asleep_s / own_s : 0;
        const bool sleeps = asleep >= kNearlyAll, computes = asleep <= 1 - kNearlyAll;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.where = turns.waiting_at.heaviest(kMostLines);
        finding.title = fmt::format("{} Java threads wait for monitors or locks that one of them holds while it {}",
                                    turns.waits_s.size(), sleeps     ? "is blocked itself"
                                                          : computes ? "computes"
                                                                     : "computes or is blocked itself");
        finding.cost.seconds = std::min(turns.most_s, wall_s);
        finding.cost.fraction = finding.cost.seconds / wall_s;
        finding.cost.how = "estimated";
        finding.gain = gain_of(turns, replay);
        finding.gain.how = "these threads side by side instead of in turn; bound by the longest thread's own time and by the CPUs; how "
                           "much of their work needs the lock was not seen";
        finding.subject.kind = "lock";
        finding.subject.name = "Java monitor";
        finding.subject.details["process"] = input.run.processes[turns.process].name;
        finding.evidence["waiting_seconds"] = turns.waiting_s;
        finding.evidence["waiting_thread_count"] = static_cast<int64_t>(turns.waits_s.size());
        finding.evidence["waiting_threads"] = thread_times_of(input.run, turns.process, turns.waits_s);
        if (!turns.went_on_s.empty())
            finding.evidence["running_meanwhile"] = thread_times_of(input.run, turns.process, turns.went_on_s);
        if (own_s > 0)
            finding.evidence["holder_blocked_fraction"] = asleep;
        finding.evidence["holder"] = "not recorded: taken to be the one of these threads that does not wait";
        if (const auto lines = turns.running_at.heaviest(kMostLines); !lines.empty())
            finding.evidence["holder_runs_at"] = names_of(lines);
        finding.evidence["look_count"] = static_cast<int64_t>(turns.looks);
        if (!computes)
            finding.advice.push_back({"Do not hold the lock while waiting",
                                      "a thread that goes on sleeps, or waits for a device, inside of the synchronized block: leave the "
                                      "block before, and only store the result inside", "code", ""});
        if (!sleeps)
            finding.advice.push_back({"Hold the lock for less",
                                      "compute outside and only store the result inside of the synchronized block; give each part of "
                                      "the data a lock of its own, or use java.util.concurrent (ConcurrentHashMap, LongAdder)", "code", ""});
        if (finding.where.empty())
            finding.advice.push_back({"Record the names of Java code", "to see which method waits, and for locks of "
                                      "java.util.concurrent, too", "launch", kNameJavaCode});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_monitor_wait() { return std::make_unique<MonitorWait>(); }

} // namespace plumb
