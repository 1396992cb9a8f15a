// Time inside the kernel, by system call and by page faults, and the lines of the user's code that caused it.
#include "analyses/lines/launch_command.h"
#include "analyses/lines/line_shares.h"
#include "analyses/time/reported_waits.h"
#include "analyses/time/run_totals.h"
#include "analyses/time/spin_loop_at.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/unsampled_kernel.h"
#include "diagnoses/access/emulated_accesses.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/interpreted_code.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/kernel/kernel_advice.h"
#include "diagnoses/kernel/request_sizes.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastCauseShare = 0.05; // of the CPU time, for one cause
constexpr double kLeastShare = 0.15;      // of the CPU time, where causes are not known
constexpr uint64_t kLeastSamples = 100, kLeastHits = 20;
constexpr double kLeastCpu_s = 0.5; // below this the kernel's part is program start
constexpr size_t kMostFindings = 3;
constexpr double kMostly = 0.8; // of the cost: a smaller part that the run waits for is said
constexpr double kFew_bytes = 1024; // of a request: to move fewer takes no time
constexpr double kCall_s = 1e-6;    // generous: a call takes 0.1 to 1 us besides moving the data
constexpr double kFault_s = 1e-6;   // generous: a minor fault takes 0.2 to 1 us

using ThreadKey = std::pair<size_t, uint32_t>; // indexes of a process, and of its thread

struct CauseProfile {
    KernelCause cause;
    uint64_t hits = 0;
    uint64_t users_hits = 0;   // of them, those that the user's own code decides on
    uint64_t wrapper_hits = 0; // outside the kernel, in the C library's function of the same call
    LineShares lines;
    std::set<size_t> processes; // indexes
    std::map<ThreadKey, uint64_t> hits_by_thread;
    RequestSizes requests;

    uint64_t all_hits() const { return hits + wrapper_hits; }
};

struct KernelProfile {
    uint64_t samples = 0, hits = 0;
    std::map<ThreadKey, uint64_t> samples_by_thread;
    std::map<std::pair<std::string, KernelCause::Maker>, CauseProfile> causes; // by name; what MPI and OpenMP do for themselves stands apart
};

// Whose code decides on it: an interpreter's system calls are its script's, but not those that manage its memory.
bool is_users_choice(const model::Run& run, const model::Process& process, const KernelCause& cause) {
    if (is_users_program(process))
        return true;
    return cause.kind == KernelCause::Kind::system_call && !is_memory_call(cause.name) && interprets_users_code(run, process);
}

KernelProfile kernel_profile_of(model::CallPaths& paths) {
    KernelProfile profile;
    const std::vector<model::Process>& processes = paths.run().processes;
    std::map<std::pair<std::string, KernelCause::Maker>, uint64_t> wrapper_hits;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::SampleSite& site : processes[process].samples) {
            profile.samples += site.samples;
            profile.samples_by_thread[{process, site.thread}] += site.samples;
            const uint64_t hits = std::min(site.kernel_samples, site.samples);
            const KernelCause cause = kernel_cause_of(paths, process, site.path);
            if (cause.kind == KernelCause::Kind::system_call)
                wrapper_hits[{cause.name, cause.maker}] += site.samples - hits;
            if (hits == 0)
                continue;
            if (yielding_loop_at(processes[process], site.path)) { // a wait, which has a finding of its own
                profile.hits += hits;
                continue;
            }
            if (cause.kind == KernelCause::Kind::own) { // its cost is reported elsewhere
                profile.samples -= hits;
                continue;
            }
            CauseProfile& entry = profile.causes[{cause.name, cause.maker}];
            entry.cause = cause;
            entry.hits += hits;
            entry.users_hits += is_users_choice(paths.run(), processes[process], cause) ? hits : 0;
            entry.lines.add(paths.user_frame(process, site.path), static_cast<double>(hits));
            entry.processes.insert(process);
            entry.hits_by_thread[{process, site.thread}] += hits;
            profile.hits += hits;
        }
    for (auto& [name, entry] : profile.causes) {
        if (const auto wrapper = wrapper_hits.find(name); wrapper != wrapper_hits.end())
            entry.wrapper_hits = wrapper->second;
        entry.requests = request_sizes(paths.run(), entry.cause, entry.processes);
    }
    return profile;
}

// Of the run's wall time, what depended on threads while they were in the cause, as a fraction. A thread that nobody waits for may
// spend its time as it likes. Nothing: the wall time was not followed.
std::optional<double> fraction_on_the_wall(const model::Run& run, const KernelProfile& profile, const CauseProfile& entry) {
    const double followed_ns = followed_wall_ns(run);
    if (followed_ns <= 0)
        return std::nullopt;
    double in_cause_ns = 0;
    for (const auto& [key, hits] : entry.hits_by_thread) {
        const std::vector<model::Thread>& threads = run.processes[key.first].threads;
        if (key.second < threads.size())
            in_cause_ns += static_cast<double>(threads[key.second].wall_on_cpu_ns()) * static_cast<double>(hits) /
                           static_cast<double>(profile.samples_by_thread.at(key));
    }
    return in_cause_ns / followed_ns * static_cast<double>(entry.all_hits()) / static_cast<double>(entry.hits);
}

// What is called by a thread that has nothing to do until something happens, or for a while.
bool is_way_to_wait(const std::string& call) {
    return call == "sched_yield" || call == "nanosleep" || call == "clock_nanosleep";
}

std::string words_of(const KernelCause& cause) {
    using Maker = KernelCause::Maker;
    const std::string by_whom = cause.maker == Maker::mpi      ? " inside MPI"
                                : cause.maker == Maker::openmp ? " inside the OpenMP runtime"
                                                               : "";
    return cause.kind == KernelCause::Kind::system_call ? "the system call " + cause.name + by_whom : cause.name;
}

// Of page faults on memory that is touched for the first time.
bool is_for_new_pages(const model::Run& run, const KernelCause& cause) {
    return cause.kind == KernelCause::Kind::page_fault && repeated_fault_share(run) < kLeastRepeated;
}

const char* gain_words(const KernelCause& cause, double by_calls, bool for_new_pages) {
    if (cause.kind != KernelCause::Kind::system_call)
        return for_new_pages ? "all of it; but new memory must be cleared all the same" : "all of it";
    if (by_calls < 1)
        return "with fewer calls, a microsecond for each: the data must be moved all the same";
    return moves_data(cause.name) ? "all of it, although the data must still be moved"
                                  : "all of it; what the program does for these calls itself comes on top";
}

class KernelTime : public Diagnosis {
  public:
    const char* id() const override { return "kernel-time"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings = by_cause(input, totals);
        for (Finding& finding : emulated_access_findings(input, totals))
            findings.push_back(std::move(finding));
        return findings;
    }

  private:
    std::vector<Finding> by_cause(const DiagnosisInput& input, const RunTotals& totals) const {
        if (totals.wall_s <= 0 || totals.cpu_s < kLeastCpu_s)
            return {};
        const KernelProfile profile = kernel_profile_of(input.paths);
        if (profile.hits == 0)
            return by_accounting(input.run, totals);
        if (profile.samples < kLeastSamples)
            return {};
        std::vector<const CauseProfile*> order;
        for (const auto& [name, cause] : profile.causes)
            order.push_back(&cause);
        std::sort(order.begin(), order.end(),
                  [](const CauseProfile* left, const CauseProfile* right) { return left->hits > right->hits; });
        std::vector<Finding> findings;
        for (const CauseProfile* cause : order)
            if (findings.size() < kMostFindings && cause->hits >= kLeastHits &&
                !(cause->cause.kind == KernelCause::Kind::system_call && is_reported_as_wait(input.paths, cause->cause.name)) &&
                confidence_above(cause->hits, profile.samples, kLeastCauseShare) >= kLeastConfidence)
                findings.push_back(finding_of(input, totals, profile, *cause));
        return findings;
    }

    static void add_counts(const RunTotals& totals, Finding& finding) {
        finding.evidence["minor_fault_count"] = static_cast<int64_t>(totals.minor_faults);
        finding.evidence["minor_faults_per_second"] = static_cast<double>(totals.minor_faults) / totals.wall_s;
        finding.evidence["major_fault_count"] = static_cast<int64_t>(totals.major_faults);
        finding.evidence["voluntary_switches_per_second"] =
            static_cast<double>(totals.voluntary_switches) / totals.wall_s;
        finding.evidence["involuntary_switches_per_second"] =
            static_cast<double>(totals.involuntary_switches) / totals.wall_s;
    }

    Finding finding_of(const DiagnosisInput& input, const RunTotals& totals, const KernelProfile& profile,
                       const CauseProfile& entry) const {
        const double share = static_cast<double>(entry.all_hits()) / static_cast<double>(profile.samples);
        Finding finding;
        finding.id = id();
        finding.confidence = confidence_above(entry.hits, profile.samples, kLeastCauseShare);
        finding.cost.seconds = totals.wall_of_share(share);
        finding.cost.fraction = finding.cost.seconds / totals.wall_s;
        finding.cost.how = "measured";
        finding.where = entry.lines.heaviest(5);
        finding.title = fmt::format("{:.0f} % of the CPU time is spent in {}", 100 * share, words_of(entry.cause));
        if (!finding.where.empty())
            finding.title += ", mainly at " + place_name(finding.where[0]);
        if (entry.cause.maker == KernelCause::Maker::mpi) // ranks poll and yield, which costs nobody time that others could use
            finding.gain = {0, "not by itself: the MPI findings report what ranks wait for"};
        else if (entry.cause.maker == KernelCause::Maker::openmp)
            finding.gain = {0, "not by itself: the OpenMP findings report what threads of a team wait for"};
        else {
            const double by_calls = part_by_calls(entry, share * totals.cpu_s);
            const double on_the_wall =
                std::min(finding.cost.fraction, fraction_on_the_wall(input.run, profile, entry).value_or(finding.cost.fraction));
            const bool for_new_pages = is_for_new_pages(input.run, entry.cause);
            finding.gain = {on_the_wall * by_calls, gain_words(entry.cause, by_calls, for_new_pages),
                            on_the_wall * certain_part(input.run, entry, by_calls), for_new_pages};
            if (on_the_wall < kMostly * finding.cost.fraction)
                finding.gain.how += "; the run does not wait for the rest of this time";
        }
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? entry.cause.name : place_name(finding.where[0]);
        finding.subject.details["cause"] = entry.cause.name;
        finding.evidence["cause_fraction"] = share;
        if (entry.requests.calls > 0) {
            finding.title += fmt::format(", in requests of {} on average", format_bytes(entry.requests.mean_bytes()));
            finding.evidence["request_mean_bytes"] = entry.requests.mean_bytes();
            finding.evidence["request_count"] = static_cast<int64_t>(entry.requests.calls);
        }
        finding.evidence["cause_error_fraction"] = share_error(entry.all_hits(), profile.samples);
        if (entry.wrapper_hits > 0)
            finding.evidence["c_library_part_fraction"] =
                static_cast<double>(entry.wrapper_hits) / static_cast<double>(entry.all_hits());
        finding.evidence["kernel_fraction"] =
            static_cast<double>(profile.hits) / static_cast<double>(profile.samples);
        finding.evidence["sample_count"] = static_cast<int64_t>(entry.hits);
        if (entry.cause.kind == KernelCause::Kind::page_fault && totals.minor_faults > 0)
            finding.evidence["time_per_fault_us"] =
                share * totals.cpu_s * 1e6 / static_cast<double>(totals.minor_faults);
        add_counts(totals, finding);
        finding.advice = entry.requests.are_large()
                             ? large_request_advice(entry.cause)
                             : kernel_advice(entry.cause, shell_line(input.run.command), fault_source(input.run));
        note_unplaced(entry.lines, input.run, finding);
        return finding;
    }

    // Of the time that goes into a cause (`cause_s`, on a CPU): what fewer calls save. Where it is known how many there are, the rest
    // is for the data, which must be moved all the same.
    static double part_by_calls(const CauseProfile& entry, double cause_s) {
        return entry.requests.mean_bytes() >= kFew_bytes && cause_s > 0
                   ? std::min(1.0, kCall_s * static_cast<double>(entry.requests.calls) / cause_s)
                   : 1;
    }

    // Of the time that goes into a cause: what a change of the program saves for certain.
    static double certain_part(const model::Run& run, const CauseProfile& entry, double by_calls) {
        if (entry.cause.kind == KernelCause::Kind::interrupt) // whose they are, and whether another CPU can take them, is not known
            return 0;
        if (is_way_to_wait(entry.cause.name)) // a better way to wait ends no sooner
            return 0;
        if (entry.cause.kind != KernelCause::Kind::page_fault)
            return by_calls * static_cast<double>(entry.users_hits) / static_cast<double>(entry.hits);
        return fault_source(run) == FaultSource::process_starts ? 0 : repeated_fault_share(run);
    }

    // In loops that wait, which have a finding of their own.
    static double yielding_s(const model::Run& run) {
        double seconds = 0;
        for (const model::Process& process : run.processes)
            for (uint32_t thread = 0; thread < process.threads.size(); ++thread)
                seconds += unsampled_kernel_of(run, process, thread).yielding_share * thread_times(process.threads[thread]).run_s;
        return seconds;
    }

    // Without samples from the kernel: how much is known from the accounting of user and system time, for what is
    // not, except that page faults are counted. Nothing to act on, hence only for the record.
    std::vector<Finding> by_accounting(const model::Run& run, const RunTotals& totals) const {
        const double all_s = totals.user_s + totals.system_s, system_s = totals.system_s - yielding_s(run);
        if (all_s < kLeastCpu_s || system_s < kLeastShare * all_s)
            return {};
        const double share = system_s / all_s;
        const double faults_share = std::min(1.0, kFault_s * static_cast<double>(totals.minor_faults) / system_s);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.7;
        finding.cost.seconds = totals.wall_of_share(share);
        finding.cost.fraction = finding.cost.seconds / totals.wall_s;
        finding.cost.how = "measured";
        finding.title = fmt::format("The kernel takes {:.0f} % of the CPU time; its cause was not sampled", 100 * share);
        finding.gain = {0, "not known: the cause was not sampled"};
        finding.fixed_severity = Severity::info;
        finding.subject.kind = "call-site";
        finding.subject.name = "kernel";
        finding.evidence["kernel_fraction"] = share;
        finding.evidence["system_seconds"] = system_s;
        finding.evidence["page_faults_at_most_fraction"] = faults_share;
        add_counts(totals, finding);
        finding.advice.push_back({"Let plumb sample the kernel",
            "the report then names the system call or page fault, and the line that causes it", "system",
            "sudo sysctl kernel.perf_event_paranoid=1"});
        return {finding};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_kernel_time() { return std::make_unique<KernelTime>(); }

} // namespace plumb
