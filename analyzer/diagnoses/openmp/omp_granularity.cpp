// OpenMP work handed out in pieces so small that handing it out takes a large part of the time: tasks, and chunks of loops.
//
// Seen by samples: the call into the runtime that they lie below shows what the runtime did. Making a task, and taking the next
// chunk, is nothing but handing out work: larger pieces save it for certain. A taskwait takes tasks up, and waits as well;
// samples cannot separate the two. A task is taken up once for each time it is made, under the same lock: that part is
// estimated as no more than what making them takes.
#include "analyses/lines/line_shares.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>

namespace plumb {

namespace {

constexpr double kLeastShare = 0.02; // of the CPU time, handing out
constexpr double kLeastConfidence = 0.9;
constexpr double kSavedByLarger = 0.9; // of handing out: pieces ten times as large are a tenth as many
constexpr size_t kMostLines = 5, kMostDepth = 256;

enum class Handing { nothing, making_tasks, waiting_for_tasks, taking_chunks };

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

// What a call into the runtime does, by its name: of libgomp (GOMP_) and of the interface of LLVM, Intel and AMD (__kmpc_).
// Chunks of an ordered loop are left out: taking one may wait. So is GOMP_taskloop, which waits for its tasks at its end.
Handing handing_of(std::string_view function) {
    function = function.substr(0, function.rfind("+0x"));
    if (function == "GOMP_task" || function.starts_with("__kmpc_omp_task_alloc") ||
        is_any_of(function, {"__kmpc_omp_task", "__kmpc_omp_task_with_deps"}))
        return Handing::making_tasks;
    if (function.starts_with("GOMP_taskwait") || function.starts_with("__kmpc_omp_taskwait") ||
        is_any_of(function, {"GOMP_taskyield", "GOMP_taskgroup_end", "__kmpc_omp_taskyield", "__kmpc_end_taskgroup"}))
        return Handing::waiting_for_tasks;
    if (function.starts_with("__kmpc_dispatch_next_") ||
        (function.starts_with("GOMP_loop_") && function.ends_with("_next") && function.find("ordered") == function.npos))
        return Handing::taking_chunks;
    return Handing::nothing;
}

// What the runtime does for the program at `node` and below, perhaps in the C library or the kernel. The function is the one that
// the program calls: by the stub that its code calls, because the runtime's functions jump to others that have no names; where
// another library stands between (plumb's own), by the runtime's symbol.
Handing handing_at(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    uint32_t entry = 0;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < kMostDepth; ++depth, node = nodes[node].parent) {
        if (nodes[node].kernel)
            continue;
        const model::Module* module = paths.module_of(process, nodes[node].address);
        if (!module || !model::is_system_module(module->path))
            break;
        if (model::is_openmp_module(module->path))
            entry = node;
    }
    if (entry == 0)
        return Handing::nothing;
    const Handing handing = handing_of(paths.frames_of(process, entry).back().function);
    return handing != Handing::nothing ? handing : handing_of(paths.called_function(process, nodes[entry].parent));
}

struct Pieces {
    uint64_t samples = 0;
    LineShares lines;
    void add(const model::SourceFrame& frame, uint64_t count) {
        samples += count;
        lines.add(frame, static_cast<double>(count));
    }
};

class OmpGranularity : public Diagnosis {
  public:
    const char* id() const override { return "omp-granularity"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        uint64_t samples = 0, waiting = 0;
        Pieces tasks, chunks;
        const std::vector<model::Process>& processes = input.run.processes;
        for (size_t process = 0; process < processes.size(); ++process)
            for (const model::SampleSite& site : processes[process].samples) {
                samples += site.samples;
                const Handing handing = handing_at(input.paths, process, site.path);
                if (handing == Handing::waiting_for_tasks)
                    waiting += site.samples;
                else if (handing != Handing::nothing)
                    (handing == Handing::making_tasks ? tasks : chunks)
                        .add(input.paths.user_frame(process, site.path), site.samples);
            }
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings;
        if (totals.wall_s <= 0)
            return findings;
        if (confidence_above(tasks.samples, samples, kLeastShare) >= kLeastConfidence)
            findings.push_back(of_tasks(totals, tasks, waiting, samples));
        if (confidence_above(chunks.samples, samples, kLeastShare) >= kLeastConfidence)
            findings.push_back(of_chunks(totals, chunks, samples));
        return findings;
    }

  private:
    Finding finding_of(const RunTotals& totals, const Pieces& pieces, uint64_t estimated, uint64_t samples) const {
        const auto share = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(samples); };
        const auto of_run = [&](uint64_t count) { return std::min(1.0, totals.wall_of_share(share(count)) / totals.wall_s); };
        Finding finding;
        finding.id = id();
        finding.confidence = confidence_above(pieces.samples, samples, kLeastShare);
        finding.cost = {of_run(estimated) * totals.wall_s, of_run(estimated),
                        estimated > pieces.samples ? "estimated" : "measured"};
        finding.gain = {of_run(estimated), "", kSavedByLarger * of_run(pieces.samples)};
        finding.where = pieces.lines.heaviest(kMostLines);
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "unknown" : place_name(finding.where[0]);
        finding.evidence["sample_count"] = static_cast<int64_t>(pieces.samples);
        finding.evidence["handing_out_fraction_of_cpu_time"] = share(pieces.samples);
        finding.evidence["handing_out_error_fraction"] = share_error(pieces.samples, samples);
        return finding;
    }

    Finding of_tasks(const RunTotals& totals, const Pieces& tasks, uint64_t waiting, uint64_t samples) const {
        const uint64_t estimated = tasks.samples + std::min(waiting, tasks.samples);
        Finding finding = finding_of(totals, tasks, estimated, samples);
        finding.title = fmt::format("Making OpenMP tasks takes {:.0f} % of the CPU time: they are too small",
                                    100.0 * static_cast<double>(tasks.samples) / static_cast<double>(samples));
        finding.gain.how = "the run without making tasks, and without taking them up, which is estimated to take no longer than "
                           "making them; much larger tasks save most of that";
        finding.evidence["taskwait_fraction_of_cpu_time"] = static_cast<double>(waiting) / static_cast<double>(samples);
        finding.advice.push_back({"Make fewer and larger tasks",
                                  "stop making tasks where the work that is left is small (some ten microseconds): call the function "
                                  "instead, or use the clause final or if; or let one task do many iterations",
                                  "code", "#pragma omp task final(n < LIMIT)"});
        return finding;
    }

    Finding of_chunks(const RunTotals& totals, const Pieces& chunks, uint64_t samples) const {
        Finding finding = finding_of(totals, chunks, chunks.samples, samples);
        finding.title = fmt::format("Handing out chunks of an OpenMP loop takes {:.0f} % of the CPU time: they are too small",
                                    100.0 * static_cast<double>(chunks.samples) / static_cast<double>(samples));
        finding.gain.how = "the run without taking chunks; chunks of many iterations save most of that";
        finding.advice.push_back({"Hand out larger chunks",
                                  "give the schedule a chunk that lasts some ten microseconds, or use guided; a static schedule "
                                  "hands out nothing, where iterations take equally long",
                                  "code", "#pragma omp for schedule(dynamic, 256)"});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_granularity() { return std::make_unique<OmpGranularity>(); }

} // namespace plumb
