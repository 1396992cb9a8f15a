// Two sets of runs, compared, as one HTML file: readable without scripts, with a flame graph of what changed where charts
// were built in.
#pragma once

#include "compare/comparison.h"
#include "reports/html/writer.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace plumb {

// `put_more`: sections that stand before those of the comparison; `variation`: the data of their charts.
std::string comparison_html(const Comparison& comparison, const std::function<void(HtmlWriter&)>& put_more = {},
                            const std::function<nlohmann::ordered_json()>& variation = {});

// What its flame graph shows (page/src/data.ts); null: nothing.
nlohmann::ordered_json comparison_chart_data(const Comparison& comparison);

} // namespace plumb
