// What every page has, whatever it reports: its head, the places of charts, its scripts.
#pragma once

#include "reports/html/writer.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace plumb {

void put_html_document_head(HtmlWriter& html, const std::string& title);

// The place of a chart that the page's script draws.
void put_html_chart(HtmlWriter& html, const char* id, const std::string& caption);

// Says that this build has no charts. For pages where kPageScript is empty.
void put_html_no_charts(HtmlWriter& html);
// Says that charts need scripts, where the browser runs none.
void put_html_noscript(HtmlWriter& html);

// The scripts and the data that they draw, from embedded_json(); nothing where charts were not built in.
void put_html_scripts(HtmlWriter& html, const std::function<std::string()>& data);

// JSON without any '<' or '&', so that it can stand inside a script element.
std::string embedded_json(const nlohmann::ordered_json& document);

} // namespace plumb
