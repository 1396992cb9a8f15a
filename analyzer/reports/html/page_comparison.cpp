// The numbers behind the flame graph of what changed.
#include "reports/html/comparison.h"
#include "reports/html/rounded.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

nlohmann::ordered_json frame_array(const MergedFrame& frame) {
    nlohmann::ordered_json children = nlohmann::ordered_json::array();
    for (const MergedFrame& child : frame.children)
        children.push_back(frame_array(child));
    return nlohmann::ordered_json::array(
        {frame.name, frame.module, rounded(frame.base_s, 1e6), rounded(frame.other_s, 1e6), frame.has_changed, children});
}

} // namespace

nlohmann::ordered_json comparison_chart_data(const Comparison& comparison) {
    if (comparison.call_tree.children.empty())
        return nullptr;
    return {{"is_known", comparison.is_known()}, {"tree", frame_array(comparison.call_tree)}};
}

} // namespace plumb
