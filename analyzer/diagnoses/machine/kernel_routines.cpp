// Programs of which the kernel takes much of the CPU time: for which system call or fault, in which routine, called from where.
#include "analyses/lines/line_shares.h"
#include "analyses/time/kernel_cause.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/kernel/kernel_advice.h"
#include "diagnoses/machine/machine_findings.h"
#include "diagnoses/machine/program_names.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastProgramShare = 0.15; // of a program's CPU time, for one cause
constexpr double kLeastOfBusy = 0.03;       // of the CPU time that all programs used
constexpr double kLeastKernel_s = 0.2;
// Of what a cause takes in a program of the user's own: how much goes away differs from program to program, so the middle decides.
constexpr double kLikely = 0.5;
constexpr size_t kMostKernelFindings = 4;
constexpr uint64_t kLeastKernelSamples = 20;

struct ProgramCause {
    std::string program;
    KernelCause cause;
    double seconds = 0;
    uint64_t samples = 0;
    LineShares lines;
    std::map<std::string, double> routines_s;
    std::set<uint32_t> pids;
    double changeable_s = 0; // of programs that are the user's own, in calls that are not there to move data
};

struct ProgramSamples {
    double seconds = 0, kernel_s = 0;
    uint64_t samples = 0;
};

class KernelTimes {
  public:
    explicit KernelTimes(model::CallPaths& paths) {
        const std::vector<model::Process>& processes = paths.run().processes;
        for (size_t number = 0; number < processes.size(); ++number)
            for (const model::SampleSite& site : processes[number].samples)
                take(paths, number, site);
    }

    std::vector<const ProgramCause*> by_time() const {
        std::vector<const ProgramCause*> order;
        for (const auto& [key, cause] : causes_)
            order.push_back(&cause);
        std::ranges::stable_sort(order, std::greater{}, &ProgramCause::seconds);
        return order;
    }
    const ProgramSamples& of(const std::string& program) const { return programs_.at(program); }

  private:
    void take(model::CallPaths& paths, size_t number, const model::SampleSite& site) {
        if (site.samples == 0)
            return;
        const model::Process& process = paths.run().processes[number];
        const uint64_t hits = std::min(site.kernel_samples, site.samples);
        const double seconds = static_cast<double>(site.time_ns) * 1e-9;
        const double kernel_s = seconds * static_cast<double>(hits) / static_cast<double>(site.samples);
        ProgramSamples& program = programs_[process.name];
        program.seconds += seconds;
        program.kernel_s += kernel_s;
        program.samples += site.samples;
        if (hits == 0)
            return;
        const std::string routine = process.paths[site.path].kernel ? paths.frames_of(number, site.path).front().function : "";
        const KernelCause cause = kernel_cause_of(paths, number, site.path);
        // Without the kernel's names a fault is only what is left over, and of other users' programs too little is known for that.
        if (routine.empty() && cause.kind != KernelCause::Kind::system_call)
            return;
        ProgramCause& entry = causes_[{process.name, cause.name}];
        entry.program = process.name;
        entry.cause = cause;
        entry.seconds += kernel_s;
        entry.samples += hits;
        entry.lines.add(paths.user_frame(number, site.path), kernel_s);
        if (!routine.empty())
            entry.routines_s[routine] += kernel_s;
        entry.pids.insert(process.pid);
        entry.changeable_s += is_users_program(process) && !moves_data(cause.name) ? kernel_s : 0;
    }

    std::map<std::string, ProgramSamples> programs_;
    std::map<std::pair<std::string, std::string>, ProgramCause> causes_; // by program and cause
};

std::string words_of(const KernelCause& cause) {
    return cause.kind == KernelCause::Kind::system_call ? "the system call " + cause.name : cause.name;
}

Finding finding_of(const ProgramCause& entry, const ProgramSamples& program, double busy_s) {
    Finding finding;
    finding.id = "kernel-time";
    finding.whole = "the CPU time of " + entry.program;
    const double share = entry.seconds / program.seconds;
    finding.confidence = confidence_above(entry.samples, program.samples, kLeastProgramShare);
    finding.title =
        fmt::format("{} spends {} of its CPU time in {}", entry.program, format_fraction(share), words_of(entry.cause));
    const auto most = std::ranges::max_element(entry.routines_s, {}, [](const auto& each) { return each.second; });
    if (most != entry.routines_s.end()) {
        finding.title +=
            fmt::format(", {} of that in the kernel's {}", format_fraction(most->second / entry.seconds), most->first);
        finding.subject.details["kernel_routine"] = most->first;
    }
    finding.where = entry.lines.heaviest(5);
    finding.cost = {entry.seconds, share, "measured"};
    finding.gain = {share, "upper bound: without any of these calls and faults; how many the program can do without is not known",
                    0, true};
    finding.gain.likely = kLikely * entry.changeable_s / program.seconds; // dd and cp are there to call read and write
    finding.subject.kind = "call-site";
    finding.subject.name = finding.where.empty() ? entry.cause.name : place_name(finding.where[0]);
    finding.subject.details["cause"] = entry.cause.name;
    finding.evidence["process_count"] = static_cast<int64_t>(entry.pids.size());
    finding.evidence["of_all_programs_fraction"] = busy_s > 0 ? entry.seconds / busy_s : 0;
    finding.evidence["kernel_fraction"] = program.kernel_s / program.seconds;
    finding.evidence["sample_count"] = static_cast<int64_t>(entry.samples);
    Advice advice{"Record this program by itself",
                  "plumb run names the request sizes, the waits around these calls, and what to change; here only those who own "
                  "the program can act",
                  "launch", ""};
    finding.advice.push_back(std::move(advice));
    return finding;
}

} // namespace

std::vector<Finding> kernel_routines(const MachineInput& input) {
    if (!input.system.is_sampled)
        return {};
    const KernelTimes times(input.paths);
    double busy_s = 0;
    for (const SystemProgram& program : input.system.programs)
        busy_s += program.cpu_s();
    std::vector<Finding> findings;
    for (const ProgramCause* entry : times.by_time()) {
        const ProgramSamples& program = times.of(entry->program);
        if (findings.size() == kMostKernelFindings || entry->seconds < kLeastKernel_s || entry->seconds < kLeastOfBusy * busy_s)
            break;
        if (entry->cause.kind != KernelCause::Kind::own && entry->cause.kind != KernelCause::Kind::unknown &&
            entry->samples >= kLeastKernelSamples &&
            confidence_above(entry->samples, program.samples, kLeastProgramShare) >= kLeastConfidence)
            findings.push_back(finding_of(*entry, program, busy_s));
    }
    return findings;
}

} // namespace plumb
