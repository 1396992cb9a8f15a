#include "reports/json/comparison.h"

#include "reports/words/comparison_words.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;

ordered_json interval_json(bool is_known, double low, double high) {
    return is_known ? ordered_json::array({low, high}) : ordered_json(nullptr);
}

ordered_json figure_json(const ComparedFigure& one) {
    const statistics::Difference& difference = one.difference;
    return {{"name", one.name},
            {"unit", one.unit},
            {"base_median", difference.base_median},
            {"other_median", difference.other_median},
            {"ratio", difference.ratio},
            {"ratio_95", interval_json(difference.is_known, difference.low, difference.high)},
            {"has_changed", one.has_changed()}};
}

ordered_json amount_json(const ComparedAmount& one) {
    return {{"name", one.name},
            {"base_median_seconds", one.seconds.base_median},
            {"other_median_seconds", one.seconds.other_median},
            {"more_seconds", one.seconds.more},
            {"more_seconds_95", interval_json(one.seconds.is_known, one.seconds.low, one.seconds.high)},
            {"has_changed", one.has_changed}};
}

ordered_json count_json(const statistics::Shift& shift, bool has_changed) {
    return {{"base_median", shift.base_median},
            {"other_median", shift.other_median},
            {"more", shift.more},
            {"more_95", interval_json(shift.is_known, shift.low, shift.high)},
            {"has_changed", has_changed}};
}

ordered_json allocation_json(const ComparedSite& one) {
    return {{"name", one.name},
            {"calls", count_json(one.calls, one.calls_changed)},
            {"bytes", count_json(one.bytes, one.bytes_changed)}};
}

ordered_json mpi_site_json(const ComparedSite& one) {
    ordered_json site = allocation_json(one);
    site["seconds"] = count_json(one.seconds, one.seconds_changed);
    return site;
}

ordered_json finding_json(const FindingChange& one) {
    return {{"key", one.key},
            {"title", one.title},
            {"change", finding_change_words(one.kind)},
            {"base_runs", one.base_runs},
            {"other_runs", one.other_runs},
            {"more_gain_fraction", one.gain.more},
            {"more_gain_fraction_95", interval_json(one.gain.is_known, one.gain.low, one.gain.high)}};
}

template <class Range, class ToJson> ordered_json list_json(const Range& range, ToJson to_json) {
    ordered_json list = ordered_json::array();
    for (const auto& one : range)
        list.push_back(to_json(one));
    return list;
}

ordered_json placed_side_json(const PlacedSide& side) {
    return {{"runs", side.runs},
            {"mean_seconds", side.mean_s},
            {"deviation_seconds", side.deviation_s ? ordered_json(*side.deviation_s) : ordered_json(nullptr)},
            {"mean_links", side.mean_links},
            {"least_pieces", side.least_pieces},
            {"most_pieces", side.most_pieces}};
}

ordered_json placements_json(const std::optional<Placements>& placements) {
    if (!placements)
        return nullptr;
    ordered_json document = {{"links", placements->are_of_bytes ? "that a byte passes" : "between two nodes"},
                             {"base", placed_side_json(placements->base)},
                             {"others", placed_side_json(placements->others)},
                             {"saved_fraction", placements->saved()},
                             {"rank_correlation", placements->correlation},
                             {"chance", placements->chance},
                             {"links_are_connected", placements->links_are_connected()},
                             {"runs", ordered_json::array()}};
    for (const PlacedRun& run : placements->runs)
        document["runs"].push_back({{"run", run.run},
                                    {"is_base", run.is_base},
                                    {"wall_seconds", run.wall_s},
                                    {"nodes", run.nodes},
                                    {"pieces", run.pieces},
                                    {"links_between_nodes", run.links_between_nodes},
                                    {"links_of_bytes", run.links_of_bytes ? ordered_json(*run.links_of_bytes) : ordered_json(nullptr)}});
    return document;
}

} // namespace

ordered_json comparison_document(const Comparison& comparison) {
    return {{"schema", "plumb-comparison/1"},
            {"programs", comparison.programs},
            {"base_runs", comparison.base_runs},
            {"other_runs", comparison.other_runs},
            {"is_paired", comparison.is_paired},
            {"is_known", comparison.is_known()},
            {"wall", figure_json(comparison.wall)},
            {"cpu", figure_json(comparison.cpu)},
            {"metrics", list_json(comparison.metrics, figure_json)},
            {"findings", list_json(comparison.findings, finding_json)},
            {"lines", list_json(comparison.lines, amount_json)},
            {"functions", list_json(comparison.functions, amount_json)},
            {"libraries", list_json(comparison.libraries, amount_json)},
            {"line_notes", comparison.line_notes},
            {"allocations_are_exact", comparison.allocations_are_exact},
            {"allocations", list_json(comparison.allocations, allocation_json)},
            {"mpi_sites", list_json(comparison.mpi_sites, mpi_site_json)},
            {"placements", placements_json(comparison.placements)}};
}

std::string comparison_json(const Comparison& comparison) {
    return comparison_document(comparison).dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
