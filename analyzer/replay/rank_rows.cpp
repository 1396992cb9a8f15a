#include "replay/rank_rows.h"

#include "replay/events/off_cpu.h"
#include "replay/events/rank_time.h"

#include <algorithm>

namespace plumb::replay {

namespace {

constexpr double kUsual = 0.5; // share of a thread's intervals from which on waiting for a CPU is its usual state

// What is scaled up from a part of the events can be no more than what was counted of all.
void limit(double& first, double& second, double most) {
    const double sum = first + second;
    if (sum > most && sum > 0) {
        first *= most / sum;
        second *= most / sum;
    }
}

model::MpiLateness reasons_of(const RankCharge& charge, double scale) {
    model::MpiLateness reasons;
    const double computing_s = seconds(charge.late_computing) * scale;
    const double delayed_s = std::min(computing_s, seconds(charge.late_delayed) * scale);
    (charge.delayed_intervals >= kUsual ? reasons.starved_s : reasons.interrupted_s) = delayed_s;
    reasons.blocked_s = std::min(computing_s - delayed_s, seconds(charge.late_asleep) * scale);
    const double busy_s = computing_s - delayed_s - reasons.blocked_s;
    const double usual_s = std::max(0.0, charge.extra_compute.quantile(0.5)) * 1e-9 *
                           static_cast<double>(charge.times_last + charge.times_root) * scale;
    reasons.computing_s = std::min(busy_s, usual_s);
    reasons.irregular_s = busy_s - reasons.computing_s;
    reasons.waiting_s = seconds(charge.late_waiting) * scale;
    reasons.other_s = std::max(0.0, seconds(charge.lateness) * scale - reasons.sum_s());
    return reasons;
}

int main_delayer(const Job& job, const RankCharge& charge) {
    const auto most = std::ranges::max_element(charge.delayed_by, {}, [](const auto& entry) { return entry.second; });
    return most == charge.delayed_by.end() || most->first >= job.ranks.size() ? -1 : job.ranks[most->first].rank;
}

void describe_late_site(const model::MpiProcess& mpi, const RankCharge& charge, model::MpiRankRow& result) {
    const auto most = std::ranges::max_element(charge.sites, {}, &RankCharge::Site::late);
    const auto at = static_cast<size_t>(most - charge.sites.begin());
    if (most == charge.sites.end() || most->late <= 0 || at >= mpi.sites.size())
        return;
    result.late_path = mpi.sites[at].path;
    result.late_call = mpi.sites[at].call;
}

void add_messages(const MatchedMessages& messages, uint32_t row, model::MpiRankRow& result) {
    const auto [first, behind] = messages.late_senders_of(row);
    Nanoseconds waited = 0;
    for (size_t i = first; i < behind; ++i)
        accumulate(waited, messages.late_senders[i].weighted());
    result.late_sender_s = seconds(waited);
    Nanoseconds receivers = 0;
    Nanoseconds covered = INT64_MIN; // waits for several receivers at once count once
    for (const LateReceiver& late : messages.late_receivers_of(row)) {
        if (late.end > covered)
            accumulate(receivers, late.end - std::max(covered, late.begin));
        covered = std::max(covered, late.end);
    }
    result.late_receiver_s = seconds(receivers) * static_cast<double>(messages.weight);
}

} // namespace

std::vector<model::MpiRankRow> rank_rows(const model::Run& run, const Job& job, const std::vector<RankCharge>& charges,
                                         const JobCharge& all, const MatchedMessages& messages,
                                         const std::vector<Nanoseconds>& caused_by_messages, uint64_t stride) {
    std::vector<model::MpiRankRow> rows(job.ranks.size());
    const auto scale = static_cast<double>(stride);
    for (uint32_t row = 0; row < rows.size(); ++row) {
        model::MpiRankRow& result = rows[row];
        const model::Process& process = run.processes[job.ranks[row].process];
        const RankCharge& charge = charges[row];
        result.rank = job.ranks[row].rank;
        result.process = job.ranks[row].process;
        result.host = job.ranks[row].host;
        const RankTime time = rank_time(run, process);
        result.thread = time.thread;
        result.elapsed_s = time.elapsed_s;
        result.mpi_s = time.mpi_s;
        result.compute_s = time.compute_s();
        result.collective_wait_s = seconds(charge.wait) * scale;
        result.collective_s = seconds(charge.operation) * scale;
        limit(result.collective_wait_s, result.collective_s, time.collective_s + time.message_s);
        add_messages(messages, row, result);
        limit(result.late_sender_s, result.late_receiver_s, time.message_s);
        result.other_mpi_s = std::max(0.0, result.mpi_s - result.collective_wait_s - result.collective_s -
                                               result.late_sender_s - result.late_receiver_s);
        if (time.thread < process.threads.size()) {
            const OffCpu off_cpu(run, process, time.thread);
            result.run_delay_s = seconds(off_cpu.delayed());
            result.asleep_s = seconds(off_cpu.asleep());
            result.involuntary_switches = process.threads[time.thread].involuntary_switches;
        }
        result.collectives = charge.collectives * stride;
        result.times_last = charge.times_last * stride;
        result.caused_wait_s = seconds(all.caused[row]) * scale;
        result.caused_message_wait_s = seconds(caused_by_messages[row]);
        result.times_responsible = charge.times_root * stride;
        result.lateness_s = seconds(charge.lateness) * scale;
        result.lateness = reasons_of(charge, scale);
        result.delayed_by = main_delayer(job, charge);
        describe_late_site(*process.mpi, charge, result);
    }
    return rows;
}

} // namespace plumb::replay
