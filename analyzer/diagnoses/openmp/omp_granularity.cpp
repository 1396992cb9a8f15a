// OpenMP work handed out in pieces so small that handing it out takes a large part of the time: tasks, and chunks of loops.
//
// Seen by samples: the call into the runtime that they lie below shows what the runtime did. Making a task, and taking the next
// chunk, is nothing but handing out work: larger pieces save it for certain. A taskwait takes tasks up, and waits as well;
// samples cannot separate the two. But a thread waits in vain only while another one works: while one of a team of n does, at
// most n - 1 wait. What is waited beyond that is the runtime's doing, for certain. The rest is estimated: a task is taken up once
// for each time it is made, under the same lock, so that taking it up takes no more than making it.
#include "analyses/lines/line_shares.h"
#include "analyses/time/openmp_call.h"
#include "analyses/time/run_totals.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/wait_class.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace plumb {

namespace {

constexpr double kLeastOverheadShare = 0.02; // of the CPU time, handing out
constexpr double kLeastOverheadConfidence = 0.9;
constexpr double kSavedByLarger = 0.9; // of handing out: pieces ten times as large are a tenth as many

std::vector<bool> in_team(const model::Process& process) {
    std::vector<bool> team(process.threads.size(), !process.openmp || process.openmp->regions.empty());
    if (process.openmp)
        for (const model::OmpRegion& region : process.openmp->regions) {
            for (const uint32_t master : region.masters)
                if (master < team.size())
                    team[master] = true;
            for (const model::OmpPart& part : region.parts)
                if (part.thread < team.size())
                    team[part.thread] = true;
        }
    return team;
}

struct Pieces {
    uint64_t samples = 0;
    LineShares lines;
    void add(const model::SourceFrame& frame, uint64_t count) {
        samples += count;
        lines.add(frame, static_cast<double>(count));
    }
};

// Of one thread: its samples by what they are, and the looks at it while it was blocked.
struct ThreadParts {
    double all_ns = 0, in_runtime_ns = 0, waiting_ns = 0;
    double looked_ns = 0, at_barrier_ns = 0;
};

// Seconds that the team of a process waits for tasks, beyond what one of its threads needs for work of its own, for a CPU, or
// blocked by something else than the team.
double unexplained_s(model::CallPaths& paths, size_t index, const std::vector<ThreadParts>& parts) {
    const model::Process& process = paths.run().processes[index];
    const std::vector<bool> team = in_team(process);
    double waiting_s = 0, else_s = 0, threads = 0;
    for (size_t thread = 0; thread < parts.size(); ++thread) {
        if (!team[thread])
            continue;
        const ThreadParts& part = parts[thread];
        const ThreadTimes times = thread_times(process.threads[thread]);
        const auto of_run = [&](double ns) { return part.all_ns > 0 ? times.run_s * ns / part.all_ns : 0; };
        const double at_barrier = part.looked_ns > 0 ? part.at_barrier_ns / part.looked_ns : 0;
        waiting_s += of_run(part.waiting_ns);
        else_s += times.run_s - of_run(part.in_runtime_ns) + times.no_cpu_s + (1 - at_barrier) * times.blocked_s;
        ++threads;
    }
    return std::max(0.0, waiting_s - (threads - 1) * else_s);
}

class OmpGranularity : public Diagnosis {
  public:
    const char* id() const override { return "omp-granularity"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        uint64_t samples = 0, waiting = 0;
        double surely_s = 0; // waiting for tasks, while no thread works
        Pieces tasks, chunks;
        const std::vector<model::Process>& processes = input.run.processes;
        for (size_t process = 0; process < processes.size(); ++process) {
            std::vector<ThreadParts> parts(processes[process].threads.size());
            for (const model::SampleSite& site : processes[process].samples) {
                samples += site.samples;
                const OpenMpCall call = openmp_call_of(input.paths, process, site.path);
                if (call == OpenMpCall::waiting_for_tasks)
                    waiting += site.samples;
                else if (call == OpenMpCall::making_tasks || call == OpenMpCall::taking_chunks)
                    (call == OpenMpCall::making_tasks ? tasks : chunks)
                        .add(input.paths.user_frame(process, site.path), site.samples);
                if (site.thread >= parts.size())
                    continue;
                const double time_ns = static_cast<double>(site.time_ns);
                parts[site.thread].all_ns += time_ns;
                parts[site.thread].in_runtime_ns += call != OpenMpCall::none ? time_ns : 0;
                parts[site.thread].waiting_ns += call == OpenMpCall::waiting_for_tasks ? time_ns : 0;
            }
            for (const model::BlockedSite& site : processes[process].blocked)
                if (site.thread < parts.size()) {
                    parts[site.thread].looked_ns += static_cast<double>(site.time_ns);
                    if (wait_class_of(input.paths, process, site).kind == WaitKind::barrier)
                        parts[site.thread].at_barrier_ns += static_cast<double>(site.time_ns);
                }
            surely_s += unexplained_s(input.paths, process, parts);
        }
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings;
        if (totals.wall_s <= 0)
            return findings;
        if (confidence_above(tasks.samples, samples, kLeastOverheadShare) >= kLeastOverheadConfidence)
            findings.push_back(of_tasks(totals, tasks, waiting, surely_waited(totals, surely_s, waiting, samples), samples));
        if (confidence_above(chunks.samples, samples, kLeastOverheadShare) >= kLeastOverheadConfidence)
            findings.push_back(of_chunks(totals, chunks, samples));
        return findings;
    }

  private:
    static uint64_t surely_waited(const RunTotals& totals, double surely_s, uint64_t waiting, uint64_t samples) {
        const double share = totals.cpu_s > 0 ? surely_s / totals.cpu_s : 0;
        return std::min(waiting, static_cast<uint64_t>(share * static_cast<double>(samples)));
    }

    // `certain` of the samples, times kSavedByLarger, is saved by larger pieces; `estimated` of them at most.
    Finding finding_of(const RunTotals& totals, const Pieces& pieces, uint64_t certain, uint64_t estimated, uint64_t samples) const {
        const auto share = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(samples); };
        const auto of_run = [&](uint64_t count) { return std::min(1.0, totals.wall_of_share(share(count)) / totals.wall_s); };
        Finding finding;
        finding.id = id();
        finding.confidence = confidence_above(pieces.samples, samples, kLeastOverheadShare);
        finding.cost = {of_run(estimated) * totals.wall_s, of_run(estimated),
                        estimated > pieces.samples ? "estimated" : "measured"};
        finding.gain = {of_run(estimated), "", kSavedByLarger * of_run(certain)};
        finding.where = pieces.lines.heaviest(kMostLines);
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "unknown" : place_name(finding.where[0]);
        finding.evidence["sample_count"] = static_cast<int64_t>(pieces.samples);
        finding.evidence["handing_out_fraction_of_cpu_time"] = share(pieces.samples);
        finding.evidence["handing_out_error_fraction"] = share_error(pieces.samples, samples);
        return finding;
    }

    Finding of_tasks(const RunTotals& totals, const Pieces& tasks, uint64_t waiting, uint64_t surely, uint64_t samples) const {
        const uint64_t estimated = tasks.samples + std::min(waiting, std::max(tasks.samples, surely));
        Finding finding = finding_of(totals, tasks, tasks.samples + surely, estimated, samples);
        const auto percent = [&](uint64_t count) { return 100.0 * static_cast<double>(count) / static_cast<double>(samples); };
        if (surely > tasks.samples) {
            finding.title = fmt::format("Making OpenMP tasks and taking them up takes {:.0f} % of the CPU time: they are too small",
                                        percent(tasks.samples + surely));
            finding.gain.how = "the run without making tasks, and without the time in which threads wait for tasks while no thread "
                               "of the team works; much larger tasks save most of that";
        } else {
            finding.title = fmt::format("Making OpenMP tasks takes {:.0f} % of the CPU time: they are too small", percent(tasks.samples));
            finding.gain.how = "the run without making tasks, and without taking them up, which is estimated to take no longer than "
                               "making them; much larger tasks save most of that";
        }
        finding.evidence["taskwait_without_work_fraction_of_cpu_time"] = percent(surely) / 100;
        finding.evidence["taskwait_fraction_of_cpu_time"] = static_cast<double>(waiting) / static_cast<double>(samples);
        finding.advice.push_back({"Make fewer and larger tasks",
                                  "stop making tasks where the work that is left is small (some ten microseconds): call the function "
                                  "instead, or use the clause final or if; or let one task do many iterations",
                                  "code", "#pragma omp task final(n < LIMIT)"});
        return finding;
    }

    Finding of_chunks(const RunTotals& totals, const Pieces& chunks, uint64_t samples) const {
        Finding finding = finding_of(totals, chunks, chunks.samples, chunks.samples, samples);
        finding.title = fmt::format("Handing out chunks of an OpenMP loop takes {:.0f} % of the CPU time: they are too small",
                                    100.0 * static_cast<double>(chunks.samples) / static_cast<double>(samples));
        finding.gain.how = "the run without taking chunks; chunks of many iterations save most of that";
        finding.advice.push_back({"Hand out larger chunks",
                                  "give the schedule a chunk that lasts some ten microseconds, or use guided; a static schedule "
                                  "hands out nothing, where iterations take equally long",
                                  "code", "#pragma omp for schedule(dynamic, CHUNK)"});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_granularity() { return std::make_unique<OmpGranularity>(); }

} // namespace plumb
