// Goroutines of a Go program that wait for locks, or to send to a channel, while processors of Go are idle. Who holds the lock is
// not recorded: it can only be one of those that do not wait for it.
//
// Until Go 1.20 a lock and the end of other goroutines (sync.WaitGroup) are one reason to wait, and the recorder cannot know which
// it is: the functions on the path say so, and what was saved at a look is divided among all of them, so that too little is reported.
#include "analyses/lines/line_shares.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace plumb {

namespace {

constexpr size_t kMostGoFrames = 16;

// Packages of Go's own that waits lead through: no place to look at.
bool is_go_library(const model::SourceFrame& frame) {
    return std::ranges::any_of(std::initializer_list<std::string_view>{"runtime.", "sync.", "internal/"},
                               [&](std::string_view package) { return frame.function.starts_with(package); });
}

// A frame of the program's own packages; none: all are Go's.
std::optional<model::SourceFrame> go_frame(model::CallPaths& paths, uint32_t process, uint32_t node) {
    for (const model::SourceFrame& frame : paths.user_callers(process, node, kMostGoFrames))
        if (!is_go_library(frame))
            return frame;
    return std::nullopt;
}

bool is_for_lock(model::CallPaths& paths, uint32_t process, const model::GoroutineWait& wait) {
    return wait.reason != "semacquire" || std::ranges::any_of(paths.stack(process, wait.path), [](const model::SourceFrame& frame) {
               return frame.function.starts_with("sync.(*Mutex)") || frame.function.starts_with("sync.(*RWMutex)");
           });
}

struct HeldUp { // of one process, all for locks or all to send
    bool sends = false;
    double waiting_s = 0, saved_s = 0;
    uint64_t looks = 0;
    std::set<std::string> reasons;
    LineShares waiting_at, running_at;
};

HeldUp held_up(const DiagnosisInput& input, uint32_t index, bool sends) {
    const model::Process& process = input.run.processes[index];
    HeldUp all;
    all.sends = sends;
    for (const model::GoroutineWait& wait : process.goroutines.waits) {
        if (wait.reason.starts_with("chan ") != sends || !is_for_lock(input.paths, index, wait))
            continue;
        all.waiting_s += static_cast<double>(wait.time_ns) * 1e-9;
        all.saved_s += static_cast<double>(wait.saved_ns) * 1e-9;
        all.looks += wait.looks;
        all.reasons.insert(wait.reason);
        const auto frame = go_frame(input.paths, index, wait.path);
        all.waiting_at.add(frame.value_or(model::SourceFrame{}), static_cast<double>(wait.time_ns));
    }
    if (all.looks > 0)
        for (const model::SampleSite& site : process.samples)
            if (const auto frame = go_frame(input.paths, index, site.path))
                all.running_at.add(*frame, static_cast<double>(site.time_ns));
    return all;
}

class GoroutineWait : public Diagnosis {
  public:
    const char* id() const override { return "goroutine-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double wall_s = WaitReplay(input.paths).wall_s();
        std::vector<Finding> findings;
        for (uint32_t index = 0; index < input.run.processes.size(); ++index)
            for (const bool sends : {false, true}) {
                if (input.run.processes[index].goroutines.waits.empty())
                    continue;
                const HeldUp all = held_up(input, index, sends);
                if (is_known_well(all.looks, all.saved_s / wall_s))
                    findings.push_back(finding_of(input, index, all, wall_s));
            }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, uint32_t index, const HeldUp& all, double wall_s) const {
        const model::Process& process = input.run.processes[index];
        const model::Goroutines& goroutines = process.goroutines;
        const double looked_s = static_cast<double>(goroutines.time_ns) * 1e-9;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.where = all.waiting_at.heaviest(kMostLines);
        finding.title = all.sends ? "Goroutines wait to send to a channel while Go has idle processors"
                                  : "Goroutines wait for locks while Go has idle processors";
        finding.cost.seconds = std::min(all.saved_s, wall_s);
        finding.cost.fraction = finding.cost.seconds / wall_s;
        finding.cost.how = "estimated";
        finding.gain.fraction = finding.cost.fraction;
        finding.gain.how = all.sends ? "if as many receivers share the work as senders wait and Go has idle processors"
                                     : "if those that wait go on side by side with the others, as far as Go has idle processors; "
                                       "less where what is done under the lock needs it";
        finding.subject.kind = all.sends ? "channel" : "lock";
        finding.subject.name = fmt::format("{}", fmt::join(all.reasons, ", "));
        finding.subject.details["process"] = process.name;
        finding.evidence["waiting_seconds"] = all.waiting_s;
        finding.evidence["mean_waiting_goroutine_count"] = looked_s > 0 ? all.waiting_s / looked_s : 0;
        finding.evidence["mean_runnable_goroutine_count"] =
            looked_s > 0 ? static_cast<double>(goroutines.runnable_ns) * 1e-9 / looked_s : 0;
        finding.evidence["processor_count"] = static_cast<int64_t>(goroutines.processors);
        finding.evidence["look_count"] = static_cast<int64_t>(goroutines.looks);
        if (!all.sends)
            finding.evidence["holder"] = "not recorded: one of the goroutines that run meanwhile";
        if (const auto lines = all.running_at.heaviest(kMostLines); !lines.empty()) {
            std::vector<std::string> names;
            for (const Location& line : lines)
                names.push_back(place_name(line));
            finding.evidence["process_runs_at"] = names;
        }
        if (all.sends)
            finding.advice.push_back({"Receive with more goroutines",
                                      "the channel is full because its receivers are slower than its senders: start more of them, "
                                      "or let each do less work for an item", "code", ""});
        else
            finding.advice.push_back({"Hold the lock for less",
                                      "compute outside and only store the result inside; give each part of the data a lock of its "
                                      "own, use sync/atomic for counters, or an RWMutex where most only read", "code", ""});
        note_unplaced(all.waiting_at, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_goroutine_wait() { return std::make_unique<GoroutineWait>(); }

} // namespace plumb
