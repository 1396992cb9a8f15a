#include "reports/json/mpi.h"

#include <cmath>

namespace plumb {

namespace {

Json histogram(const model::SizeHistogram& sizes) { // without the empty end
    size_t used = sizes.size();
    while (used > 0 && sizes[used - 1] == 0)
        --used;
    return Json(std::vector<uint64_t>(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(used)));
}

Json comm_object(const model::MpiCommRow& comm) {
    return {{"name", comm.name},
            {"kind", name_of(comm.kind)},
            {"size", comm.size},
            {"recorded_members", comm.members_recorded},
            {"inter", comm.inter},
            {"collectives", comm.epochs},
            {"wait_seconds", number(comm.wait_s)},
            {"operation_seconds", number(comm.operation_s)},
            {"imbalance_seconds", number(comm.imbalance_s)}};
}

Json frame_list(const std::vector<model::SourceFrame>& frames) {
    Json list = Json::array();
    for (const model::SourceFrame& frame : frames)
        list.push_back({{"file", frame.file}, {"line", frame.line}, {"function", frame.function}, {"module", frame.module}});
    return list;
}

Json site_object(const MpiSiteLine& line, const model::MpiJob& job) {
    const model::MpiCallSite& site = *line.site;
    const bool has_comm = site.comm < job.comms.size();
    return {{"call", site.call},
            {"file", line.frame.file},
            {"line", line.frame.line},
            {"function", line.frame.function},
            {"module", line.frame.module},
            {"callers", frame_list(line.callers)},
            {"communicator", has_comm ? Json(job.comms[site.comm].name) : Json(nullptr)},
            {"communicator_size", has_comm ? Json(job.comms[site.comm].size) : Json(nullptr)},
            {"ranks", site.ranks},
            {"calls", site.calls},
            {"failed", site.failed},
            {"found_nothing", site.found_nothing},
            {"sent_bytes", site.sent_bytes},
            {"received_bytes", site.received_bytes},
            {"mean_bytes", number(mean_bytes(site))},
            {"size_histogram", histogram(site.sizes)},
            {"seconds", number(site.time_s)},
            {"fraction", line.starts_or_ends ? Json(nullptr) : number(fraction_of_job(job, site.time_s))},
            {"wait_seconds", number(site.wait_s)},
            {"operation_seconds", number(site.operation_s)},
            {"longest_seconds", number(site.longest_s)},
            {"longest_rank", site.longest_rank},
            {"least_rank_seconds", number(site.least_rank_s)},
            {"most_rank_seconds", number(site.most_rank_s)},
            {"most_rank", site.most_rank}};
}

Json rank_object(const model::MpiRankRow& row, const model::Run& run) {
    const model::MpiLateness& why = row.lateness;
    return {{"rank", row.rank},
            {"host", row.host < run.hosts.size() ? run.hosts[row.host].name : std::string()},
            {"elapsed_seconds", number(row.elapsed_s)},
            {"compute_seconds", number(row.compute_s)},
            {"mpi_seconds", number(row.mpi_s)},
            {"collective_wait_seconds", number(row.collective_wait_s)},
            {"collective_seconds", number(row.collective_s)},
            {"late_sender_seconds", number(row.late_sender_s)},
            {"late_receiver_seconds", number(row.late_receiver_s)},
            {"other_mpi_seconds", number(row.other_mpi_s)},
            {"run_delay_seconds", number(row.run_delay_s)},
            {"collectives", row.collectives},
            {"times_last", row.times_last},
            {"caused_wait_seconds", number(row.caused_wait_s)},
            {"caused_message_wait_seconds", number(row.caused_message_wait_s)},
            {"gain_seconds", number(row.gain_s)},
            {"lateness",
             {{"seconds", number(row.lateness_s)},
              {"computing_seconds", number(why.computing_s)},
              {"irregular_seconds", number(why.irregular_s)},
              {"starved_seconds", number(why.starved_s)},
              {"interrupted_seconds", number(why.interrupted_s)},
              {"blocked_seconds", number(why.blocked_s)},
              {"waiting_seconds", number(why.waiting_s)},
              {"other_seconds", number(why.other_s)},
              {"delayed_by", row.delayed_by >= 0 ? Json(row.delayed_by) : Json(nullptr)}}}};
}

Json matrix_object(const model::MpiMatrix& matrix) {
    const auto rows = [](const std::vector<model::MpiMatrix::Place>& places) {
        Json list = Json::array();
        for (const model::MpiMatrix::Place& place : places)
            list.push_back(Json::array({place.from, place.to, place.messages, place.bytes}));
        return list;
    };
    return {{"bin", matrix.bin},
            {"places", rows(matrix.places)},
            {"heaviest_pairs", rows(matrix.heaviest_pairs)},
            {"unplaced_messages", matrix.unplaced_messages},
            {"unplaced_bytes", matrix.unplaced_bytes}};
}

Json fit_object(const model::MpiTransferFit& fit) {
    if (!fit.known)
        return nullptr;
    const double slope = fit.seconds_per_byte;
    return {{"latency_seconds", number(fit.latency_s)},
            {"bytes_per_second", slope > 0 ? number(1 / slope) : Json(nullptr)},
            {"spread_seconds", number(fit.spread_s)},
            {"messages", fit.messages}};
}

Json granularity_object(const model::MpiGranularity& grain) {
    return {{"intervals", grain.intervals},
            {"mean_seconds", number(grain.mean_s)},
            {"least_seconds", number(grain.least_s)},
            {"tenth_seconds", number(grain.tenth_s)},
            {"median_seconds", number(grain.median_s)},
            {"ninetieth_seconds", number(grain.ninetieth_s)},
            {"most_seconds", number(grain.most_s)},
            {"cycles", grain.cycles},
            {"mean_cycle_seconds", number(grain.mean_cycle_s)},
            {"least_cycle_seconds", number(grain.least_cycle_s)}};
}

Json parts_object(const model::MpiCycleParts& parts) {
    return {{"work_seconds", number(parts.work_s)},
            {"imbalance_seconds", number(parts.imbalance_s)},
            {"without_cpu_seconds", number(parts.without_cpu_s)},
            {"blocked_seconds", number(parts.blocked_s)},
            {"waiting_seconds", number(parts.waiting_s)},
            {"mpi_seconds", number(parts.mpi_s)},
            {"other_seconds", number(parts.other_s)}};
}

Json cycles_object(const MpiSummary& summary) {
    const model::MpiCycles& cycles = summary.job->cycles;
    if (cycles.count == 0)
        return nullptr;
    Json series = Json::array(), histogram = Json::array();
    for (const model::MpiCycles::Point& point : cycles.series)
        series.push_back(Json::array({point.first, point.cycles, number(point.begin_s), number(point.end_s), number(point.least_s),
                                      number(point.mean_s), number(point.most_s)}));
    for (const model::MpiCycles::Bin& bin : cycles.histogram)
        histogram.push_back(Json::array({number(bin.from_s), number(bin.to_s), bin.cycles}));
    const model::SourceFrame& frame = summary.cycle_frame;
    return {{"call", cycles.call},
            {"file", frame.file},
            {"line", frame.line},
            {"function", frame.function},
            {"count", cycles.count},
            {"mean_seconds", number(cycles.mean_s)},
            {"least_seconds", number(cycles.least_s)},
            {"tenth_seconds", number(cycles.tenth_s)},
            {"median_seconds", number(cycles.median_s)},
            {"ninetieth_seconds", number(cycles.ninetieth_s)},
            {"most_seconds", number(cycles.most_s)},
            {"period", cycles.period},
            {"drifts", cycles.drifts},
            {"kinds", cycles.kinds},
            {"attainable_seconds", number(cycles.attainable_s)},
            {"usual_seconds", number(cycles.usual_s)},
            {"slow", cycles.slow},
            {"look_seconds", number(cycles.look_s)},
            {"mean_parts", parts_object(cycles.mean)},
            {"loss_parts", parts_object(cycles.loss)},
            {"series", std::move(series)},
            {"histogram", std::move(histogram)}};
}

Json expectation_object(const CycleExpectation& expectation) {
    if (!expectation.why_not.empty())
        return {{"why_not", expectation.why_not}};
    Json object = {{"expected_seconds", number(expectation.expected_s)}, {"ratio", number(expectation.ratio)}, {"change", nullptr}};
    if (const auto& change = expectation.change)
        object["change"] = {{"cycle", change->cycle},
                            {"seconds", number(change->at_s)},
                            {"ratio_before", number(change->before)},
                            {"ratio_after", number(change->after)},
                            {"gradual", change->is_gradual}};
    return object;
}

Json job_object(const MpiSummary& summary, const model::Run& run) {
    const model::MpiJob& job = *summary.job;
    Json comms = Json::array(), sites = Json::array(), ranks = Json::array();
    for (const model::MpiCommRow& comm : job.comms)
        comms.push_back(comm_object(comm));
    for (const MpiSiteLine& line : summary.sites)
        sites.push_back(site_object(line, job));
    for (const model::MpiRankRow& row : job.ranks)
        ranks.push_back(rank_object(row, run));
    return {{"name", job.name},
            {"library", summary.library},
            {"library_version", job.library_version},
            {"spawned", job.spawned},
            {"size", job.size},
            {"hosts", job.hosts},
            {"begin_seconds", number(job.begin_s)},
            {"elapsed_seconds", number(job.elapsed_s)},
            {"mpi_fraction",
             {{"mean", number(summary.mpi_fraction)},
              {"least", number(summary.least_fraction)},
              {"least_rank", summary.least_rank},
              {"most", number(summary.most_fraction)},
              {"most_rank", summary.most_rank}}},
            {"wait_seconds", number(job.wait_s)},
            {"operation_seconds", number(job.operation_s)},
            {"late_sender_seconds", number(job.late_sender_s)},
            {"late_receiver_seconds", number(job.late_receiver_s)},
            {"imbalance_seconds", number(job.imbalance_s)},
            {"collectives", {{"compared", job.epochs}, {"stride", job.epoch_stride}, {"incomplete", job.incomplete_epochs}}},
            {"messages",
             {{"matched", job.matched_messages}, {"unmatched_ends", job.unmatched_ends}, {"stride", job.message_stride}}},
            {"clocks",
             {{"aligned", job.clocks.aligned},
              {"error_seconds", number(job.clocks.error_s)},
              {"largest_shift_seconds", number(job.clocks.largest_shift_s)},
              {"largest_drift", number(job.clocks.largest_drift)}}},
            {"message_sizes", histogram(job.message_sizes)},
            {"transfer", {{"within_host", fit_object(job.within_host)}, {"between_hosts", fit_object(job.between_hosts)}}},
            {"granularity", granularity_object(job.granularity)},
            {"cycles", cycles_object(summary)},
            {"expectation", summary.expectation ? expectation_object(*summary.expectation) : Json(nullptr)},
            {"communicators", comms},
            {"call_sites", sites},
            {"ranks", ranks},
            {"matrix", matrix_object(job.matrix)}};
}

} // namespace

Json mpi_jobs_array(const Report& report) {
    Json jobs = Json::array();
    for (const MpiSummary& summary : report.mpi)
        jobs.push_back(job_object(summary, *report.run));
    return jobs;
}

} // namespace plumb
