// Code between parallel regions that one thread computes while its team waits for work: Amdahl's bound.
//
// The time is the CPU time of a thread that starts regions, sampled outside of them. That its lines can be divided among the
// team is not known; what they cost at most is.
#include "analyses/time/own_time.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"
#include "model/call_paths.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace plumb {

namespace {

constexpr double kLeastSerialShare = 0.10; // of the run, serial
constexpr double kLeastRegionShare = 0.10; // of the run, in regions: less is no program that lives by its team
constexpr double kClearLine = 0.5;         // of the serial time in one function: it can be named as the cause
constexpr uint64_t kLeastSamples = 30;

struct Serial {
    uint32_t process = 0, thread = 0;
    double regions_s = 0, serial_s = 0;
    uint64_t samples = 0;
    uint32_t team = 0;
    LineShares lines;
    std::map<std::string, double> functions;
};

// Whether a sample was taken, or may have been, inside a region, in MPI (which waits for others), or in the shim.
bool is_elsewhere(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    if (is_own_code(paths, process, node))
        return true;
    for (size_t depth = 0; node != 0 && node < nodes.size() && depth < model::kMostCallers; ++depth, node = nodes[node].parent)
        if (nodes[node].truncated) // what called it may be a region
            return true;
        else if (const model::Module* module = nodes[node].kernel ? nullptr : paths.module_of(process, nodes[node].address);
            module && (model::is_openmp_module(module->path) || model::is_mpi_module(module->path)))
            return true;
    return false;
}

using Function = std::pair<std::string, std::string>; // module, name

// The functions that regions are started in, and their callers.
std::set<Function> callers_of_regions(model::CallPaths& paths, size_t process, const model::OpenMp& openmp) {
    std::set<Function> callers;
    for (const model::OmpRegion& region : openmp.regions)
        for (const model::SourceFrame& frame : paths.stack(process, region.path))
            callers.insert({frame.module, frame.function});
    return callers;
}

// What runs between regions: the outermost function that does not start regions itself, else the line that was sampled.
model::SourceFrame serial_frame(model::CallPaths& paths, size_t process, uint32_t node, const std::set<Function>& callers) {
    const std::vector<model::SourceFrame> frames = paths.stack(process, node);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
        if (!frame->file.empty() && frame->line != 0 && !model::is_system_module(frame->module) &&
            !callers.contains({frame->module, frame->function}))
            return *frame;
    return paths.user_frame(process, node);
}

class OmpSerial : public Diagnosis {
  public:
    const char* id() const override { return "omp-serial"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        std::vector<Finding> findings;
        for (uint32_t process = 0; process < input.run.processes.size(); ++process)
            for (Serial& serial : serials_of(input, process))
                if (run_s > 0 && serial.serial_s >= kLeastSerialShare * run_s && serial.regions_s >= kLeastRegionShare * run_s &&
                    serial.samples >= kLeastSamples && serial.team > 1)
                    findings.push_back(finding_of(input, serial, run_s));
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) { return finding.cost.seconds; });
        findings.resize(std::min<size_t>(findings.size(), 1)); // ranks and copies say the same
        return findings;
    }

  private:
    static std::vector<Serial> serials_of(const DiagnosisInput& input, uint32_t index) {
        const model::Process& process = input.run.processes[index];
        std::vector<Serial> serials;
        if (!process.openmp)
            return serials;
        for (const model::OmpRegion& region : process.openmp->regions) {
            if (region.nested || region.masters.size() != 1) // several pools: others may work meanwhile
                continue;
            auto of = std::ranges::find(serials, region.masters[0], &Serial::thread);
            if (of == serials.end()) {
                serials.push_back({.process = index, .thread = region.masters[0], .lines = {}, .functions = {}});
                of = std::prev(serials.end());
            }
            of->regions_s += static_cast<double>(region.wall_ns) * 1e-9;
            of->team = std::max(of->team, region.most_threads);
        }
        if (serials.size() != 1)
            return {};
        const std::set<Function> callers = callers_of_regions(input.paths, index, *process.openmp);
        for (Serial& serial : serials)
            for (const model::SampleSite& site : process.samples)
                if (site.thread == serial.thread && !is_elsewhere(input.paths, index, site.path)) {
                    const double time_s = static_cast<double>(site.time_ns) * 1e-9;
                    const model::SourceFrame frame = serial_frame(input.paths, index, site.path, callers);
                    serial.serial_s += time_s;
                    serial.samples += site.samples;
                    serial.lines.add(frame, time_s);
                    serial.functions[frame.function] += time_s;
                }
        return serials;
    }

    Finding finding_of(const DiagnosisInput& input, const Serial& serial, double run_s) const {
        const auto most = std::ranges::max_element(serial.functions, {}, [](const auto& entry) { return entry.second; });
        const double parts = 1 - 1.0 / serial.team;
        const bool is_clear = most != serial.functions.end() && most->second >= kClearLine * serial.serial_s && !most->first.empty();
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.title = is_clear ? fmt::format("{} computes on one thread while a team of {} waits", most->first, serial.team)
                                 : fmt::format("One thread computes between parallel regions while a team of {} waits", serial.team);
        // What the rest of the team could have done meanwhile.
        finding.cost = {serial.serial_s * parts, std::min(1.0, serial.serial_s * parts / run_s), "bound"};
        const double named_s = is_clear ? most->second : 0;
        finding.gain = {std::min(1.0, serial.serial_s * parts / run_s),
                        "at most, by Amdahl's law: the serial time divided among the team, if its work can be divided",
                        std::min(1.0, named_s * parts / run_s), true};
        finding.where = serial.lines.heaviest(kMostLines);
        finding.subject.kind = "thread";
        finding.subject.name = input.run.processes[serial.process].threads[serial.thread].name;
        finding.subject.details["process"] = input.run.processes[serial.process].name;
        finding.evidence["serial_seconds"] = serial.serial_s;
        finding.evidence["parallel_regions_seconds"] = serial.regions_s;
        finding.evidence["thread_count"] = static_cast<int64_t>(serial.team);
        finding.evidence["most_speedup_by_more_threads"] = run_s / serial.serial_s;
        finding.advice.push_back({"Parallelise what one thread does between the regions",
                                  "begin with the function that takes the most; where its order matters, let it run beside the next "
                                  "region (a task, or a section)",
                                  "code", ""});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_serial() { return std::make_unique<OmpSerial>(); }

} // namespace plumb
