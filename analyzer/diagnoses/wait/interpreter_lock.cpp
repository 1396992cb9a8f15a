// Python threads that wait for the interpreter's lock: only one of them runs Python code at any time.
#include "analyses/time/run_totals.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/turn_taking.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

class InterpreterLock : public Diagnosis {
  public:
    const char* id() const override { return "interpreter-lock"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<Finding> findings;
        for (const TurnTaking& turns : turn_takings(input, replay, RuntimeLock::python))
            if (is_known_well(turns.looks, turns.least_s / replay.wall_s()))
                findings.push_back(finding_of(input, replay, turns));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const TurnTaking& turns) const {
        const double wall_s = replay.wall_s();
        const RunTotals totals = totals_of(input.run);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        finding.title = fmt::format("{} Python threads wait for one another: the interpreter's lock (GIL) lets one of them run at a time",
                                    turns.waits_s.size());
        finding.cost.seconds = std::min(turns.most_s, wall_s);
        finding.cost.fraction = finding.cost.seconds / wall_s;
        finding.cost.how = "estimated";
        finding.gain = gain_of(turns, replay);
        finding.gain.how = fmt::format("these threads side by side instead of in turn, on {} CPUs; bound by the longest thread's own "
                                       "time", totals.usable_cpus);
        finding.subject.kind = "lock";
        finding.subject.name = "GIL";
        finding.subject.details["process"] = input.run.processes[turns.process].name;
        finding.evidence["waiting_seconds"] = turns.waiting_s;
        finding.evidence["waiting_thread_count"] = static_cast<int64_t>(turns.waits_s.size());
        finding.evidence["waiting_threads"] = thread_times_of(input.run, turns.process, turns.waits_s);
        finding.evidence["running_meanwhile"] = thread_times_of(input.run, turns.process, turns.went_on_s);
        finding.evidence["look_count"] = static_cast<int64_t>(turns.looks);
        finding.advice.push_back({"Compute in processes",
                                  "concurrent.futures.ProcessPoolExecutor or multiprocessing.Pool in place of threads: each process has "
                                  "an interpreter of its own; hand over large pieces, as arguments and results are copied",
                                  "code", ""});
        finding.advice.push_back({"Or move the loop into code that gives up the lock",
                                  "NumPy, zlib and hashlib do for large arrays and buffers, and code of your own can (Cython: `with "
                                  "nogil`); or use a build of Python without the lock (3.13 and later: python3.13t)",
                                  "code", ""});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_interpreter_lock() { return std::make_unique<InterpreterLock>(); }

} // namespace plumb
