#include "reports/json/scaling.h"

#include "reports/json/document.h"
#include "reports/words/scaling_words.h"
#include "scale/bandwidth_limit.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using namespace scale;
using nlohmann::ordered_json;

ordered_json range_json(bool is_known, double low, double high) {
    return is_known ? ordered_json::array({low, high}) : ordered_json(nullptr);
}

ordered_json range_json(const Interval& range) { return ordered_json::array({range.low, range.high}); }

ordered_json time_json(const std::optional<statistics::Spread>& spread) {
    if (!spread)
        return nullptr;
    return {{"median", spread->median}, {"median_95", range_json(spread->is_known, spread->low, spread->high)},
            {"least", spread->least}, {"most", spread->most}};
}

ordered_json runs_json(const ScalePoint& point) {
    ordered_json runs = ordered_json::array();
    for (size_t i = 0; i < point.runs.size(); ++i)
        runs.push_back({{"directory", point.runs[i].directory},
                        {"round", point.runs[i].round},
                        {"seconds", point.facts[i].time_s},
                        {"thread_seconds", point.facts[i].thread_s},
                        {"copies_seconds", point.facts[i].copies_s}});
    return runs;
}

ordered_json failed_json(const ScalePoint& point) {
    ordered_json failed = ordered_json::array();
    for (const repeat::SeriesRun& run : point.failed)
        failed.push_back({{"directory", run.directory}, {"round", run.round}, {"exit_status", run.exit_status}});
    return failed;
}

ordered_json bandwidth_json(const std::optional<BandwidthSummary>& bandwidth) {
    if (!bandwidth)
        return nullptr;
    return {{"bytes_per_second", bandwidth->bytes_per_s},
            {"threads", bandwidth->threads},
            {"roof_fraction", bandwidth->roof_fraction},
            {"roof_times_one_thread", bandwidth->roof_times_one_thread},
            {"time_fraction", bandwidth->time_fraction},
            {"place", text_or_null(place_of(*bandwidth))}};
}

ordered_json point_json(const ScalePoint& point) {
    const bool has_time = point.time_s.has_value();
    return {{"value", point.at.value},
            {"set", point.set},
            {"program", point.program},
            {"runs", runs_json(point)},
            {"failed", failed_json(point)},
            {"seconds", time_json(point.time_s)},
            {"slowest_copy_seconds", time_json(point.slowest_s)},
            {"times_first", has_time ? ordered_json(point.to_first.ratio) : ordered_json(nullptr)},
            {"times_first_95", range_json(has_time && point.to_first.is_known, point.to_first.low, point.to_first.high)},
            {"speed_up", has_time ? ordered_json(point.speed_up) : ordered_json(nullptr)},
            {"efficiency", has_time ? ordered_json(point.efficiency) : ordered_json(nullptr)},
            {"bandwidth", bandwidth_json(point.bandwidth)}};
}

ordered_json fit_json(const CurveFit& fit) {
    const auto name = fit.law == Law::usl ? "usl" : fit.law == Law::saturation ? "saturation" : "cannot tell";
    ordered_json saturation = nullptr;
    if (fit.saturation)
        saturation = {{"unit_seconds", fit.saturation->unit_s},
                      {"served", fit.saturation->served()},
                      {"served_95", range_json(fit.served_95)}};
    return {{"law", name},
            {"worst_deviation", fit.worst_deviation},
            {"usl", {{"unit_seconds", fit.usl.unit_s},
                     {"contention", fit.usl.contention},
                     {"contention_95", range_json(fit.contention_95)},
                     {"coherence", fit.usl.coherence},
                     {"coherence_95", range_json(fit.coherence_95)}}},
            {"saturation", saturation}};
}

ordered_json shift_json(const statistics::Shift& shift) {
    return {{"from_median", shift.base_median}, {"to_median", shift.other_median}, {"more", shift.more},
            {"more_95", range_json(shift.is_known, shift.low, shift.high)}};
}

ordered_json grown_json(const std::vector<GrownAmount>& amounts) {
    ordered_json list = ordered_json::array();
    for (const GrownAmount& one : amounts)
        list.push_back({{"name", one.name}, {"place", one.place}, {"seconds", shift_json(one.seconds)}, {"grows", one.grows},
                        {"finding", one.finding}, {"title", one.title}});
    return list;
}

ordered_json growth_json(const Growth& growth) {
    ordered_json findings = ordered_json::array();
    for (const NotedFinding& finding : growth.findings)
        findings.push_back({{"id", finding.id}, {"title", finding.title}});
    return {{"from", growth.from},
            {"to", growth.to},
            {"is_certain", growth.is_certain},
            {"thread_seconds", shift_json(growth.thread_s)},
            {"classes", grown_json(growth.classes)},
            {"lines", grown_json(growth.lines)},
            {"libraries", grown_json(growth.libraries)},
            {"new_findings", findings}};
}

ordered_json index_json(const std::optional<size_t>& index) { return index ? ordered_json(*index) : ordered_json(nullptr); }

} // namespace

std::string scaling_json(const Scaling& scaling) {
    ordered_json points = ordered_json::array();
    for (const ScalePoint& point : scaling.points)
        points.push_back(point_json(point));
    ordered_json exponent = nullptr;
    if (scaling.exponent)
        exponent = {{"value", scaling.exponent->exponent}, {"value_95", range_json(scaling.exponent->exponent_95)}};
    const ordered_json document{{"schema", "plumb-scaling/1"},
                                {"axis", name_of(scaling.axis)},
                                {"by_environment", scaling.is_by_environment},
                                {"program", scaling.program},
                                {"directory", scaling.directory},
                                {"asked_runs", scaling.asked},
                                {"cpus", scaling.cpus},
                                {"stopped", scaling.stopped.empty() ? ordered_json(nullptr) : ordered_json(scaling.stopped)},
                                {"summary", scaling_sentences(scaling)},
                                {"points", points},
                                {"first", index_json(scaling.first)},
                                {"best", index_json(scaling.best)},
                                {"best_is_known", scaling.best_is_known},
                                {"alike", scaling.alike},
                                {"bandwidth_limit", index_json(scaling.bandwidth_limit)},
                                {"fit", scaling.fit ? fit_json(*scaling.fit) : ordered_json(nullptr)},
                                {"exponent", exponent},
                                {"growth", scaling.growth ? growth_json(*scaling.growth) : ordered_json(nullptr)}};
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
