// One rank makes the others wait: who, on which line, and why.
#include "diagnoses/mpi_findings.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostFindings = 4;
constexpr size_t kMostCompared = 32; // other ranks whose samples are looked up

using LineKey = std::tuple<std::string, std::string, uint32_t, std::string>;

struct LineTimes {
    model::SourceFrame frame;
    std::vector<double> seconds; // of each compared rank
    uint64_t samples = 0;        // of all of them
    double sum_s() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
};

// How far apart two ranks that spend the same time on a line come by the chance of sampling, hardly ever farther:
// twice the standard deviation of the difference of two counts.
double chance_seconds(const LineTimes& line, double late_s, double other_s) {
    return line.samples ? 2 * std::sqrt((late_s + other_s) * line.sum_s() / static_cast<double>(line.samples)) : 0;
}

// CPU seconds of the process by the user's line, what it did for MPI included: a rank that waits spins there.
void add_lines(model::CallPaths& paths, size_t process, size_t place, size_t places, std::map<LineKey, LineTimes>& lines) {
    for (const model::SampleSite& site : paths.run().processes[process].samples) {
        const model::SourceFrame frame = paths.user_frame(process, site.path);
        LineTimes& line = lines[{frame.module, frame.file, frame.line, frame.line ? std::string() : frame.function}];
        if (line.seconds.empty()) {
            line.frame = frame;
            line.seconds.resize(places);
        }
        line.seconds[place] += static_cast<double>(site.time_ns) * 1e-9;
        line.samples += site.samples;
    }
}

// Lines on which the rank was sampled longer than the median of the others. Time in MPI calls is more at the others, so that
// it drops out.
LineShares extra_lines(model::CallPaths& paths, const model::MpiJob& job, const model::MpiRankRow& late) {
    std::vector<const model::MpiRankRow*> others;
    for (const model::MpiRankRow& row : job.ranks)
        if (row.rank != late.rank)
            others.push_back(&row);
    const size_t step = 1 + (others.size() - 1) / kMostCompared;
    std::vector<size_t> processes = {late.process};
    for (size_t i = 0; i < others.size(); i += step)
        processes.push_back(others[i]->process);
    std::map<LineKey, LineTimes> lines;
    for (size_t place = 0; place < processes.size(); ++place)
        add_lines(paths, processes[place], place, processes.size(), lines);
    LineShares extra, perhaps; // perhaps: no more than chance
    for (auto& [key, line] : lines) {
        const auto middle = line.seconds.begin() + 1 + static_cast<ptrdiff_t>((line.seconds.size() - 1) / 2);
        std::nth_element(line.seconds.begin() + 1, middle, line.seconds.end());
        const double more_s = line.seconds[0] - *middle; // nothing is added for what is not more
        (more_s > chance_seconds(line, line.seconds[0], *middle) ? extra : perhaps).add(line.frame, more_s);
    }
    return extra.heaviest(1).empty() ? perhaps : extra;
}

struct Reason {
    const char* name;
    double seconds;
    const char* words; // "rank 3 ..., ..."
};

Reason main_reason(const model::MpiLateness& lateness) {
    const Reason reasons[] = {
        {"computing", lateness.computing_s, "it computes more than the others"},
        {"irregular", lateness.irregular_s, "now and then it is busy outside MPI for longer than the others"},
        {"starved", lateness.starved_s, "it waits for a CPU"},
        {"interrupted", lateness.interrupted_s, "now and then it loses its CPU"},
        {"waiting", lateness.waiting_s, "it waits for others itself"},
        {"other", lateness.other_s, "it leaves the collective before later than the others"},
    };
    return *std::ranges::max_element(reasons, {}, &Reason::seconds);
}

std::vector<Advice> advice_for(const Reason& reason, const std::string& place) {
    const std::string name = reason.name;
    if (name == "starved" || name == "interrupted")
        return {{"Give the rank a CPU of its own",
                 "bind each rank to a core (mpirun --bind-to core, srun --cpu-bind=cores, or plumb's --pin) and keep other "
                 "programs off that core", "launch", ""}};
    if (name == "waiting" || name == "other")
        return {{"Look at the ranks that it waits for", "its delay came to it through other MPI calls", "code", ""}};
    std::vector<Advice> advice = {
        {"Share out its extra work", place.empty() ? std::string("what only this rank does (output, checks, a larger part of the "
                                                                 "grid) is done while all others wait for it")
                                                   : fmt::format("what only this rank does at {} is done while all others wait "
                                                                 "for it: deal it out, or let one rank do it while the others go on", place),
         "code", ""}};
    if (name == "irregular")
        advice.push_back({"Look for what disturbs it", "if the line is one that all ranks run alike, something outside the program "
                                                       "(an interrupt, the hypervisor) takes its time", "system", ""});
    return advice;
}

class MpiLateRank : public Diagnosis {
  public:
    const char* id() const override { return "mpi-late-rank"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            size_t made = 0;
            for (const LateRank& late : late_ranks(job))
                if (made++ < kMostFindings)
                    findings.push_back(finding_of(input, job, late));
        }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, const LateRank& late) const {
        const model::MpiRankRow& row = *late.row;
        Finding finding;
        finding.id = id();
        finding.cost.seconds = late.cost_s;
        finding.cost.fraction = fraction_of_run(input.run, late.cost_s);
        finding.severity = severity_of_cost(finding.cost.fraction);
        finding.confidence = late.by_messages ? 0.7 : 0.9;
        const LineShares extra = extra_lines(input.paths, job, row);
        finding.where = extra.heaviest(5);
        const std::string place = finding.where.empty() ? std::string() : place_name(finding.where[0]);
        const Reason reason = late.by_messages ? Reason{"computing", 0, "they wait for its messages"}
                                               : main_reason(row.lateness);
        finding.title = fmt::format("{} wait for rank {}: {}", job_words(input.run, job), row.rank, reason.words);
        const std::string name = reason.name;
        if (!place.empty() && (name == "computing" || name == "irregular"))
            finding.title += ", at " + place;
        finding.gain = {finding.cost.fraction,
                        late.by_messages ? "the mean time that the other ranks waited for its messages"
                                         : "every collective replayed without what this rank usually does more than the median of the "
                                           "others, and without what it alone does now and then"};
        finding.subject.kind = "rank";
        finding.subject.name = std::to_string(row.rank);
        finding.subject.details["host"] = row.host < input.run.hosts.size() ? input.run.hosts[row.host].name : std::string();
        finding.subject.details["reason"] = name;
        if (row.delayed_by >= 0)
            finding.subject.details["delayed_by_rank"] = static_cast<int64_t>(row.delayed_by);
        add_evidence(job, row, finding);
        finding.advice = advice_for(reason, place);
        tell_unplaced(extra, input.run, finding);
        // A rank that alone lacks a CPU is just what is to be found.
        const bool lacks_cpu = name == "starved" || name == "interrupted";
        allow_for_starved_ranks(starved_share(job, lacks_cpu ? &row : nullptr), finding);
        return finding;
    }

    static void add_evidence(const model::MpiJob& job, const model::MpiRankRow& row, Finding& finding) {
        finding.evidence["times_last_count"] = static_cast<int64_t>(row.times_last);
        finding.evidence["times_responsible_count"] = static_cast<int64_t>(row.times_responsible);
        finding.evidence["collective_count"] = static_cast<int64_t>(row.collectives);
        finding.evidence["caused_wait_rank_seconds"] = row.caused_wait_s;
        finding.evidence["caused_late_sender_rank_seconds"] = row.caused_late_sender_s;
        finding.evidence["late_seconds"] = row.lateness_s;
        const std::pair<const char*, double> reasons[] = {
            {"late_computing_seconds", row.lateness.computing_s}, {"late_irregular_seconds", row.lateness.irregular_s},
            {"late_starved_seconds", row.lateness.starved_s},     {"late_interrupted_seconds", row.lateness.interrupted_s},
            {"late_waiting_seconds", row.lateness.waiting_s},     {"late_other_seconds", row.lateness.other_s}};
        for (const auto& [key, value] : reasons)
            if (value > 0.01 * row.lateness_s)
                finding.evidence[key] = value;
        finding.evidence["compute_seconds"] = row.compute_s;
        finding.evidence["run_delay_seconds"] = row.run_delay_s;
        finding.evidence["involuntary_switch_count"] = static_cast<int64_t>(row.involuntary_switches);
        double sum_s = 0;
        for (const model::MpiRankRow& other : job.ranks)
            sum_s += other.compute_s;
        finding.evidence["mean_compute_seconds"] = sum_s / static_cast<double>(job.ranks.size());
        tell_thinning(job, finding);
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_late_rank() { return std::make_unique<MpiLateRank>(); }

} // namespace plumb
