#include "reports/html/page_data.h"
#include "reports/html/rounded.h"
#include "reports/json/document.h"
#include "reports/html/page_account.h"
#include "reports/html/page_frame.h"
#include "reports/html/page_memory.h"
#include "reports/html/page_mpi.h"
#include "reports/html/page_noise.h"

#include <cmath>

namespace plumb {

namespace {

// Times to the microsecond and fractions to the permille: a chart shows no more, and the page stays small.
double time_of(double seconds) {
    return rounded(seconds, 1e6);
}
double share_of(double fraction) {
    return rounded(fraction, 1e3);
}

Json lane_object(const Lane& lane) {
    Json spans = Json::array();
    for (const LaneSpan& span : lane.spans)
        spans.push_back(Json::array({time_of(span.begin), time_of(span.end), span.cpu, share_of(span.running),
                                     share_of(span.waiting), span.migrations}));
    return {{"process", lane.process}, {"thread", lane.thread}, {"spans", spans}};
}

Json cpu_object(const CpuRow& row) {
    Json spans = Json::array();
    for (const CpuSpan& span : row.spans)
        spans.push_back(Json::array({time_of(span.begin), time_of(span.end), share_of(span.own),
                                     share_of(span.other), share_of(span.interrupt), share_of(span.steal)}));
    return {{"host", row.host}, {"cpu", row.cpu}, {"allowed", row.allowed}, {"spans", spans}};
}

} // namespace

std::string page_data(const Report& report, const CpuTimeline& timeline) {
    Json lanes = Json::array(), cpus = Json::array();
    for (const Lane& lane : timeline.lanes)
        lanes.push_back(lane_object(lane));
    for (const CpuRow& row : timeline.cpus)
        cpus.push_back(cpu_object(row));
    const MpiSummary* job = charted_mpi_job(report);
    const Json document = {{"seconds", time_of(timeline.seconds)},
                           {"lanes", lanes},
                           {"lanes_left_out", timeline.lanes_left_out},
                           {"cpus", cpus},
                           {"cpus_left_out", timeline.cpus_left_out},
                           {"threads", thread_chart_data(report)},
                           {"call_tree", call_tree_chart_data(report.call_tree)},
                           {"mpi", job ? mpi_chart_data(*job) : Json(nullptr)},
                           {"memory", report.memory.recorded ? memory_chart_data(report.memory) : Json(nullptr)},
                           {"noise", report.noise ? noise_chart_data(report) : Json(nullptr)}};
    return embedded_json(document);
}

} // namespace plumb
