#include "reports/html/simulation_sections.h"

#include "reports/words/simulation_words.h"

namespace plumb {

void begin_html_table(HtmlWriter& html, const std::string& first, const std::vector<std::string>& titles, bool are_figures) {
    html.open("table").open("thead").open("tr").element("th", first, {{"scope", "col"}});
    for (const std::string& title : titles)
        are_figures ? html.element("th", title, {{"scope", "col"}, {"class", "number"}})
                    : html.element("th", title, {{"scope", "col"}});
    html.close().close().open("tbody");
}

void put_html_row(HtmlWriter& html, const std::string& first, const std::vector<std::string>& cells, bool are_figures) {
    html.open("tr").element("th", first, {{"scope", "row"}});
    for (const std::string& cell : cells)
        are_figures ? html.element("td", cell, {{"class", "number"}}) : html.element("td", cell);
    html.close();
}

void begin_granularity_table(HtmlWriter& html, const std::string& first, const simulate::Study& study) {
    std::vector<std::string> titles;
    for (const simulate::AtGranularity& at : study.granularities)
        titles.push_back(granularity_words(at.work_s));
    begin_html_table(html, first, titles);
}

void put_granularity_row(HtmlWriter& html, const std::string& first, const simulate::Study& study,
                         const std::function<std::string(const simulate::AtGranularity&)>& figure) {
    std::vector<std::string> cells;
    for (const simulate::AtGranularity& at : study.granularities)
        cells.push_back(figure(at));
    put_html_row(html, first, cells);
}

} // namespace plumb
