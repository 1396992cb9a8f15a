// Ranks that send much to one another are on different hosts, and another order of the ranks on the same hosts would bring them together:
// what that saves, by what single messages within and between these hosts take in this run. What ranks lose because all of their host
// share its link cannot be seen in one run: where messages take much of the time, the order is noted without a gain.
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/mpi/message_call.h"
#include "diagnoses/mpi/mpi_findings.h"
#include "diagnoses/mpi/recorded_traffic.h"
#include "diagnoses/registry.h"
#include "network/job/job_shape.h"
#include "network/machine/one_switch.h"
#include "network/order/rank_order.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

namespace plumb {

namespace {

constexpr double kLeastSavedByOrder = 0.03;  // of the run
constexpr double kMostStillLeaving = 0.8;    // of the bytes that leave a host now: an order that changes less is not worth a change
constexpr double kSearch_s = 5;              // for the order; small jobs need a few milliseconds
constexpr double kLeastNoted = 0.1;          // of the run: time of the mean rank in calls with messages that is worth a note
constexpr double kLeastCostRatio = 2;        // what the mean message between hosts takes, against one within a host

// Rank-seconds in calls that send and receive, without waiting for ranks that are late.
double message_seconds(const model::MpiJob& job) {
    double seconds = 0;
    for (const model::MpiCallSite& site : job.sites)
        if (carries_messages(site))
            seconds += std::max(0.0, site.time_s - site.wait_s);
    return std::min(seconds, job.elapsed_s * job.size);
}

double seconds_of(const model::MpiTransferFit& fit, const network::PairTraffic& pair) {
    return static_cast<double>(pair.messages) * fit.latency_s + static_cast<double>(pair.bytes) * fit.seconds_per_byte;
}

// Of the messages that a rank receives, one after the other; seconds.
struct TransferTimes {
    double mean_s = 0, longest_s = 0; // of the ranks

    TransferTimes() = default;
    // `node_of`: of each rank; empty: all on one host.
    TransferTimes(const model::MpiJob& job, const network::Traffic& traffic, const std::vector<network::NodeIndex>& node_of) {
        std::vector<double> of_rank(traffic.ranks);
        for (const network::PairTraffic& pair : traffic.pairs) {
            const bool is_within = node_of.empty() || node_of[pair.from] == node_of[pair.to];
            of_rank[pair.to] += seconds_of(is_within ? job.within_host : job.between_hosts, pair);
        }
        mean_s = std::accumulate(of_rank.begin(), of_rank.end(), 0.0) / static_cast<double>(of_rank.size());
        longest_s = std::ranges::max(of_rank);
    }
};

// Wall time of the job. Ranks that meet again and again wait for the one whose messages take longest, others for none: so what the mean
// rank saves counts where that one saves as much. Messages that overlap with computing take less of a rank's time than they are on their
// way: what the calls took goes down by the same part.
double saved_seconds(const TransferTimes& before, const TransferTimes& after, double message_calls_s) {
    const double saved_s = std::min(before.mean_s - after.mean_s, before.longest_s - after.longest_s);
    return saved_s > 0 ? std::min(saved_s, message_calls_s * saved_s / before.mean_s) : 0;
}

// Of a message of the mean size. Where a cost is not known (messages that share a cable take unequally long), this is not known to be
// otherwise.
bool costs_more_between_hosts(const model::MpiJob& job, const network::Traffic& traffic) {
    if (!job.within_host.known || !job.between_hosts.known || traffic.messages() == 0)
        return true;
    const network::PairTraffic mean{.messages = 1, .bytes = traffic.bytes() / traffic.messages()};
    return seconds_of(job.between_hosts, mean) >= kLeastCostRatio * seconds_of(job.within_host, mean);
}

struct BetterOrder {
    network::RankOrder order;
    network::JobShape shape;
    double message_calls_s = 0; // mean rank
    TransferTimes before, after;
    double saved_s = 0;
    bool is_noted_only = false; // what it saves is not known

    double leaving() const { return order.before.leaving_bytes / order.before.bytes; }
    double leaving_after() const { return order.after.leaving_bytes / order.after.bytes; }
};

class MpiRankOrder : public Diagnosis {
  public:
    const char* id() const override { return "mpi-rank-order"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const model::MpiJob& job : input.run.mpi_jobs) {
            if (job.hosts < 2 || job.size <= static_cast<int>(job.hosts))
                continue;
            if (const auto recorded = recorded_traffic(input.run, job); recorded && !recorded->traffic.pairs.empty())
                if (const auto better = better_order_of(input.run, job, *recorded))
                    findings.push_back(finding_of(input, job, *better));
        }
        return findings;
    }

  private:
    static std::optional<BetterOrder> better_order_of(const model::Run& run, const model::MpiJob& job,
                                                      const network::RecordedTraffic& recorded) {
        const std::unique_ptr<network::Network> hosts = network::one_switch(network::each_name_once(recorded.host_of));
        std::vector<network::NodeIndex> node_of;
        for (const std::string& host : recorded.host_of)
            node_of.push_back(hosts->node_named(host).value());
        const network::Traffic& traffic = recorded.traffic;
        BetterOrder better;
        better.message_calls_s = message_seconds(job) / job.size;
        better.before = TransferTimes(job, traffic, node_of);
        const auto is_worth_it = [&](double saved_s) { return fraction_of_run(run, saved_s) >= kLeastSavedByOrder; };
        const auto saves = [&](const TransferTimes& after) {
            // Without costs of both kinds of messages nothing is known of what an order gains.
            return job.within_host.known && job.between_hosts.known ? saved_seconds(better.before, after, better.message_calls_s) : 0;
        };
        const bool may_be_noted = fraction_of_run(run, better.message_calls_s) >= kLeastNoted && costs_more_between_hosts(job, traffic);
        if (!may_be_noted && !is_worth_it(saves(TransferTimes(job, traffic, {})))) // no order can save more
            return std::nullopt;
        better.shape = network::job_shape(traffic);
        better.order = network::better_order(*hosts, traffic, node_of, better.shape, kSearch_s);
        better.after = TransferTimes(job, traffic, better.order.node_of);
        better.saved_s = saves(better.after);
        better.is_noted_only = !is_worth_it(better.saved_s);
        if (better.order.before.leaving_bytes <= 0 || better.leaving_after() > kMostStillLeaving * better.leaving() ||
            (better.is_noted_only && !may_be_noted))
            return std::nullopt;
        return better;
    }

    Finding finding_of(const DiagnosisInput& input, const model::MpiJob& job, const BetterOrder& better) const {
        Finding finding;
        finding.id = id();
        finding.cost.seconds = better.saved_s;
        finding.cost.fraction = fraction_of_run(input.run, better.saved_s);
        finding.confidence = 0.8;
        finding.title = fmt::format("{} of the bytes that {} send to one another leave their host, and {} with the ranks in another order",
                                    format_fraction(better.leaving()), job_words(input.run, job), format_fraction(better.leaving_after()));
        LineShares lines;
        for (const model::MpiCallSite& site : job.sites)
            if (carries_messages(site))
                add_call_site(input.paths, site, site.time_s, lines);
        finding.where = lines.heaviest(5);
        finding.gain = {finding.cost.fraction, "estimated from what messages within a host and between hosts take in this run: of the mean rank, "
                                               "or of the rank with the longest messages where that saves less"};
        if (better.is_noted_only) {
            finding.cost = {};
            finding.gain = {0, "not known: the ranks of a host share what its link carries, and how much longer their messages take for that "
                               "cannot be seen in one run"};
            finding.fixed_severity = Severity::info;
        }
        finding.subject.kind = "job";
        finding.subject.name = job_words(input.run, job);
        finding.subject.details["shape"] = network::shape_words(better.shape, static_cast<uint32_t>(job.size));
        add_evidence(job, better, finding);
        tell_thinning(job, finding);
        finding.advice.push_back({"Start the ranks in another order",
                                  "a rank is a neighbour of others in the program's grid: those belong on one host. The file for the launcher "
                                  "has the better order (--reorder hostfile, slurm or mpich-rank-order for launchers other than Open MPI's)",
                                  "launch", fmt::format("plumb topo {} --reorder rankfile", input.run.directory)});
        finding.advice.push_back({"Number the ranks by host in the program",
                                  "let MPI_Cart_create reorder the ranks, or make the grid from communicators that "
                                  "MPI_Comm_split_type(MPI_COMM_TYPE_SHARED) splits off", "code", ""});
        note_unplaced(lines, input.run, finding);
        allow_for_starved_ranks(starved_share(job), finding);
        return finding;
    }

    static void add_evidence(const model::MpiJob& job, const BetterOrder& better, Finding& finding) {
        finding.evidence["message_bytes"] = better.order.before.bytes;
        finding.evidence["leaving_fraction"] = better.leaving();
        finding.evidence["leaving_fraction_reordered"] = better.leaving_after();
        finding.evidence["message_calls_mean_seconds"] = better.message_calls_s;
        if (job.within_host.known && job.between_hosts.known) {
            finding.evidence["transfer_mean_seconds"] = better.before.mean_s;
            finding.evidence["transfer_mean_seconds_reordered"] = better.after.mean_s;
            finding.evidence["transfer_longest_seconds"] = better.before.longest_s;
            finding.evidence["transfer_longest_seconds_reordered"] = better.after.longest_s;
            finding.evidence["saved_seconds"] = better.saved_s;
        }
        const auto add = [&](const std::string& which, const model::MpiTransferFit& fit) {
            if (!fit.known)
                return;
            finding.evidence[which + "_latency_us"] = fit.latency_s * 1e6;
            if (fit.seconds_per_byte > 0)
                finding.evidence[which + "_bandwidth_mb_per_second"] = 1e-6 / fit.seconds_per_byte;
            finding.evidence[which + "_fitted_message_count"] = static_cast<int64_t>(fit.messages);
        };
        add("within_host", job.within_host);
        add("between_hosts", job.between_hosts);
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_mpi_rank_order() { return std::make_unique<MpiRankOrder>(); }

} // namespace plumb
