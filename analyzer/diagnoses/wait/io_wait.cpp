// Time of the run that depended on threads waiting for files: which file, on which line, in requests of what size.
#include "analyses/lines/line_shares.h"
#include "analyses/time/kernel_cause.h"
#include "analyses/time/reported_waits.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr uint64_t kManyWaits = 10;           // the program does it again and again
constexpr double kSmallRequest_B = 64 * 1024; // larger ones are limited by the device's bandwidth, not by its latency
constexpr size_t kMostFiles = 3;

struct FileUse {
    WaitKind kind = WaitKind::file;
    std::string file;
    double waiting_s = 0, wall_s = 0;
    double kernel_s = 0, kernel_wall_s = 0; // CPU time of the same calls, and what of the wall time depended on it
    WaitReplay::Removed kernel_of;          // by thread
    uint64_t looks = 0, waits = 0; // of the waits at least so many
    uint64_t requests = 0, bytes = 0; // seen, and what they asked for
    std::map<std::string, double> calls; // in words
    std::set<std::pair<std::string, model::SourceLine>> call_lines; // the call's name, and where
    std::set<const model::BlockedSite*> sites;
    LineShares lines;
};

bool is_file(WaitKind kind) { return kind == WaitKind::file || kind == WaitKind::file_sync; }

class IoWait : public Diagnosis {
  public:
    const char* id() const override { return "io-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::map<std::pair<WaitKind, std::string>, FileUse> uses;
        for (const Wait& wait : replay.waits()) {
            if (!is_file(wait.what.kind))
                continue;
            FileUse& use = uses[{wait.what.kind, wait.site->descriptor}];
            use.kind = wait.what.kind;
            use.file = wait.site->descriptor;
            use.waiting_s += wait.seconds;
            use.wall_s += wait.wall_s;
            use.looks += wait.site->looks;
            use.waits += wait.count;
            use.requests += wait.site->waits;
            use.bytes += wait.site->bytes;
            use.calls[wait.what.what] += wait.seconds;
            use.sites.insert(wait.site);
            const model::SourceFrame frame = input.paths.user_frame(wait.process, wait.site->path);
            use.lines.add(frame, wait.seconds);
            use.call_lines.insert({call_name(wait.what), model::source_line(frame)});
        }
        add_kernel_time(input.paths, replay, uses);
        std::vector<const FileUse*> order;
        for (const auto& [key, use] : uses)
            if (is_known_well(use.looks, use.wall_s / replay.wall_s()))
                order.push_back(&use);
        std::ranges::stable_sort(order, std::greater<>(), &FileUse::wall_s);
        order.resize(std::min(order.size(), kMostFiles));
        std::vector<Finding> findings;
        for (const FileUse* use : order)
            findings.push_back(finding_of(input, replay, *use));
        return findings;
    }

  private:
    // What the same calls, from the same lines, take of CPUs inside the kernel goes with them. A line that uses several files
    // divides it among them by their waiting time.
    static void add_kernel_time(model::CallPaths& paths, const WaitReplay& replay,
                                std::map<std::pair<WaitKind, std::string>, FileUse>& uses) {
        const std::vector<model::Process>& processes = paths.run().processes;
        for (uint32_t process = 0; process < processes.size(); ++process) {
            std::vector<double> sampled_ns(processes[process].threads.size());
            for (const model::SampleSite& site : processes[process].samples)
                if (site.thread < sampled_ns.size())
                    sampled_ns[site.thread] += static_cast<double>(site.time_ns);
            for (const model::SampleSite& site : processes[process].samples) {
                if (site.kernel_samples * 2 <= site.samples || site.thread >= sampled_ns.size())
                    continue;
                const KernelCause cause = kernel_cause_of(paths, process, site.path);
                if (cause.kind != KernelCause::Kind::system_call)
                    continue;
                const std::pair key{cause.name, model::source_line(paths.user_frame(process, site.path))};
                double waiting_s = 0;
                for (const auto& [file, use] : uses)
                    waiting_s += use.call_lines.contains(key) ? use.waiting_s : 0;
                if (waiting_s <= 0)
                    continue;
                const model::Thread& thread = processes[process].threads[site.thread];
                const double share = static_cast<double>(site.time_ns) / sampled_ns[site.thread];
                const double running_ns = static_cast<double>(thread.wall_on_cpu_ns());
                for (auto& [file, use] : uses)
                    if (use.call_lines.contains(key)) {
                        const double part = share * use.waiting_s / waiting_s;
                        const double cpu_s = part * thread_times(thread).run_s;
                        use.kernel_s += cpu_s;
                        use.kernel_of[{process, site.thread}] += cpu_s;
                        use.kernel_wall_s += part * running_ns * replay.wall_scale();
                    }
            }
        }
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const FileUse& use) const {
        const double wall_s = replay.wall_s();
        const double cost_s = std::min(wall_s, use.wall_s + use.kernel_wall_s);
        const double without_s =
            replay.without(cost_s, [&](const Wait& wait) { return use.sites.contains(wait.site); }, use.kernel_of);
        const auto call = std::max_element(use.calls.begin(), use.calls.end(),
                                           [](const auto& left, const auto& right) { return left.second < right.second; });
        const double request_B = use.requests > 0 ? static_cast<double>(use.bytes) / static_cast<double>(use.requests) : 0;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        finding.cost.seconds = cost_s;
        finding.cost.fraction = cost_s / wall_s;
        finding.where = use.lines.heaviest(kMostLines);
        const double percent = 100 * finding.cost.fraction;
        finding.title = use.kernel_wall_s < kLeastWallShare * wall_s
                            ? fmt::format("The run waits for {} in {:.0f} % of its time", call->first, percent)
                            : fmt::format("The run waits for {}, or is in the kernel for it, in {:.0f} % of its time",
                                          call->first, percent);
        if (!finding.where.empty())
            finding.title += ", from " + place_name(finding.where[0]);
        const double gain = (wall_s - without_s) / wall_s;
        // One sync of many must stay; so must the bytes of large requests. Few large waits may be all that there is to do.
        const bool repeated = use.waits >= kManyWaits;
        const bool is_latency = use.kind == WaitKind::file_sync || (use.bytes > 0 && request_B < kSmallRequest_B);
        const double kept = 1 / static_cast<double>(std::max<uint64_t>(use.waits, 1));
        finding.gain = {gain, "the run without these waits"};
        if (repeated && is_latency)
            finding.gain.likely = gain * (1 - kept);
        else
            finding.gain.at_least = 0;
        finding.subject.kind = "device";
        finding.subject.name = use.file.empty() ? call->first : use.file;
        finding.evidence["waiting_seconds"] = use.waiting_s;
        if (use.kernel_s > 0)
            finding.evidence["kernel_seconds"] = use.kernel_s;
        finding.evidence["look_count"] = static_cast<int64_t>(use.looks);
        finding.evidence["least_wait_count"] = static_cast<int64_t>(use.waits);
        if (use.bytes > 0)
            finding.evidence["request_bytes"] = request_B;
        finding.advice.push_back(advice_of(use, is_latency));
        note_unplaced(use.lines, input.run, finding);
        return finding;
    }

    static Advice advice_of(const FileUse& use, bool is_latency) {
        if (use.kind == WaitKind::file_sync)
            return {"Sync less often",
                    "write several records, then sync once; or sync in a thread of its own while the others go on", "code", ""};
        if (is_latency)
            return {"Use larger requests", "read or write at least 1 MiB at a time, or let stdio do it (setvbuf)", "code", ""};
        return {"Overlap it with computing",
                "read the next block, or write the last one, in a thread of its own or with io_uring; posix_fadvise(WILLNEED) "
                "starts reading early", "code", ""};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_io_wait() { return std::make_unique<IoWait>(); }

} // namespace plumb
