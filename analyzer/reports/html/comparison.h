// Two sets of runs, compared, as one HTML file: readable without scripts, with a flame graph of what changed where charts were built in.
#pragma once

#include "compare/comparison.h"
#include "reports/html/writer.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace plumb {

std::string comparison_html(const Comparison& comparison);

// For pages that hold more than a comparison: its sections, and what its flame graph shows (page/src/data.ts); null: nothing.
void put_html_comparison(HtmlWriter& html, const Comparison& comparison);
nlohmann::ordered_json comparison_chart_data(const Comparison& comparison);

} // namespace plumb
