// Many small messages: each costs its latency, whatever it carries; what sending them together would save.
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/mpi/message_call.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastSavedFraction = 0.03; // of the run, to be saved
constexpr double kLeastLatencyPart = 0.5;    // of the time in message calls
constexpr double kLeastTogether = 2;         // messages that could become one
constexpr double kLeastMessages = 200;       // the time of a few is that of starting up
constexpr double kLeastSmall_bytes = 1024, kMostSmall_bytes = 65536;
constexpr double kShortWait = 10; // latencies: waits up to this are part of exchanging

// Messages of a job, all ranks together; seconds are rank-seconds.
struct Messages {
    double count = 0, bytes = 0;
    double small_count = 0;
    double small_limit_bytes = kSmallCall_bytes; // at which half of a message's time is its latency; by judgement where that is unknown
    double calls_s = 0;               // in calls that send, receive or wait for messages, long waits for late ranks left out; at
                                      // most the job's time: threads of a rank may wait side by side
    double latency_part_s = 0;        // of these: what does not grow with the bytes
    double together = 1;              // messages of one pair with hardly any work in between, which could be one
};

const model::MpiTransferFit& fit_of(const model::MpiJob& job) {
    return job.between_hosts.messages > job.within_host.messages ? job.between_hosts : job.within_host;
}

void count_messages(const model::Run& run, const model::MpiJob& job, Messages& messages) {
    for (const model::MpiRankRow& row : job.ranks)
        for (const model::MpiPeer& peer : run.processes[row.process].mpi->peers)
            if (peer.direction == model::MpiPeer::Direction::sent && peer.peer >= 0) {
                messages.count += static_cast<double>(peer.messages);
                messages.bytes += static_cast<double>(peer.bytes);
            }
    for (size_t i = 0; i < job.message_sizes.size(); ++i) // class i ends below 2^i bytes
        if (std::ldexp(1.0, static_cast<int>(i)) <= messages.small_limit_bytes)
            messages.small_count += static_cast<double>(job.message_sizes[i]);
}

Messages messages_of(const model::Run& run, const model::MpiJob& job) {
    Messages messages;
    const model::MpiTransferFit& fit = fit_of(job);
    if (fit.known && fit.seconds_per_byte > 0)
        messages.small_limit_bytes = std::clamp(fit.latency_s / fit.seconds_per_byte, kLeastSmall_bytes, kMostSmall_bytes);
    count_messages(run, job, messages);
    if (messages.count <= 0)
        return messages;
    double waits_s = 0;
    for (const model::MpiCallSite& site : job.sites)
        if (carries_messages(site)) {
            messages.calls_s += site.time_s;
            waits_s += site.wait_s;
        }
    if (!fit.known || waits_s > kShortWait * fit.latency_s * messages.count)
        messages.calls_s = std::max(0.0, messages.calls_s - waits_s);
    messages.calls_s = std::min(messages.calls_s, job.elapsed_s * job.size);
    messages.latency_part_s = std::max(0.0, messages.calls_s - messages.bytes * fit.seconds_per_byte);
    messages.together = job.messages_in_burst;
    return messages;
}

// Rank-seconds that one message instead of `together` ones would save.
double saved_seconds(const Messages& messages) {
    if (messages.count <= 0 || messages.together < 1)
        return 0;
    return messages.latency_part_s * messages.small_count / messages.count * (1 - 1 / messages.together);
}

// What recording took from each rank, of the run's time: calls that are gone need no recording either.
double own_seconds(const model::Run& run, const model::MpiJob& job) {
    double own_s = 0;
    for (const model::MpiRankRow& row : job.ranks)
        own_s += static_cast<double>(run.processes[row.process].own_cost_ns) * 1e-9;
    return own_s / static_cast<double>(job.ranks.size());
}

class MpiSmallMessages : public Diagnosis {
  public:
    const char* id() const override { return "mpi-small-messages"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            if (job.size < 2)
                continue;
            const Messages messages = messages_of(input.run, job);
            const double saved_s = saved_seconds(messages) / job.size;
            if (messages.count >= kLeastMessages && messages.together >= kLeastTogether && messages.small_count >= 0.5 * messages.count &&
                messages.latency_part_s >= kLeastLatencyPart * messages.calls_s &&
                fraction_of_run(input.run, saved_s) >= kLeastSavedFraction)
                findings.push_back(finding_of(input, job, messages, saved_s));
        }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, const Messages& messages,
                       double saved_s) const {
        Finding finding;
        finding.id = id();
        finding.cost.seconds = messages.latency_part_s / job.size;
        finding.cost.fraction = fraction_of_run(input.run, finding.cost.seconds);
        finding.confidence = 0.85;
        LineShares lines;
        for (const model::MpiCallSite& site : job.sites)
            if (carries_messages(site))
                add_call_site(input.paths, site, site.time_s, lines);
        finding.where = lines.heaviest(5);
        const double mean_bytes = messages.bytes / messages.count;
        const double fraction = fraction_of_run(input.run, saved_s);
        finding.title = fmt::format("{} messages of {:.0f} bytes on average lose {:.0f} % of the time to latency",
                                    format_count(std::round(messages.count)), mean_bytes, 100 * finding.cost.fraction);
        if (!finding.where.empty())
            finding.title += ", mainly at " + place_name(finding.where[0]);
        finding.gain = {fraction, fmt::format("estimated for sending as one message what goes to the same rank with hardly any work in "
                                              "between, {} messages on average",
                                               messages.together < 100 ? fmt::format("{:.1f}", messages.together)
                                                                       : format_count(std::round(messages.together)))};
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "MPI messages" : place_name(finding.where[0]);
        finding.evidence["message_count"] = static_cast<int64_t>(messages.count);
        finding.evidence["small_message_count"] = static_cast<int64_t>(messages.small_count);
        finding.evidence["message_mean_bytes"] = mean_bytes;
        finding.evidence["message_calls_rank_seconds"] = messages.calls_s;
        finding.evidence["latency_rank_seconds"] = messages.latency_part_s;
        finding.evidence["per_message_us"] = messages.latency_part_s / messages.count * 1e6;
        finding.evidence["messages_to_join_count"] = messages.together;
        finding.evidence["joined_bytes"] = mean_bytes * messages.together;
        finding.evidence["saved_seconds"] = saved_s;
        // Of the cured program, without plumb.
        finding.evidence["predicted_seconds"] =
            std::max(0.0, static_cast<double>(input.run.wall_ns()) * 1e-9 - saved_s - own_seconds(input.run, job));
        if (const model::MpiTransferFit& fit = fit_of(job); fit.known) {
            finding.evidence["fitted_latency_us"] = fit.latency_s * 1e6;
            if (fit.seconds_per_byte > 0)
                finding.evidence["fitted_bandwidth_mb_per_second"] = 1e-6 / fit.seconds_per_byte;
            finding.evidence["fitted_message_count"] = static_cast<int64_t>(fit.messages);
        }
        tell_thinning(job, finding);
        finding.advice.push_back({"Join messages to the same rank",
            "pack the values of all fields and calls of a step into one message for each neighbour (a derived datatype, "
            "MPI_Pack, or a buffer), and exchange once a step instead of in every routine", "code", ""});
        finding.advice.push_back({"Exchange wider borders less often",
            "exchanging a border of k cells every k steps moves the same bytes in 1/k of the messages", "code", ""});
        note_unplaced(lines, input.run, finding);
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_small_messages() { return std::make_unique<MpiSmallMessages>(); }

} // namespace plumb
