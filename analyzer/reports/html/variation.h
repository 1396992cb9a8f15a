// Why runs of one command take different times: the shares, and each cause beside the work of the runs.
#pragma once

#include "reports/html/writer.h"
#include "repeat/repetition.h"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace plumb {

// Of the commands whose runs differ by enough; nothing of others.
void put_html_variations(HtmlWriter& html, const std::vector<repeat::RepeatedCommand>& commands);

// What their charts show, in the same order (page/src/data.ts); null: nothing.
nlohmann::ordered_json variation_chart_data(const std::vector<repeat::RepeatedCommand>& commands);

} // namespace plumb
