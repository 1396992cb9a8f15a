// The sections of a simulated job's page, in the order in which they stand.
#pragma once

#include "reports/html/writer.h"
#include "simulate/study.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb {

void put_html_beside_recording(HtmlWriter& html, const simulate::Study& study); // of a recorded job
void put_html_simulated_cycles(HtmlWriter& html, const simulate::Study& study);
void put_html_what_ifs(HtmlWriter& html, const simulate::Study& study);
void put_html_sizes(HtmlWriter& html, const simulate::Study& study);
void put_html_lengths(HtmlWriter& html, const simulate::Study& study);
void put_html_losers(HtmlWriter& html, const simulate::Study& study);
void put_html_simulated_job(HtmlWriter& html, const simulate::Study& study);
void put_html_simulated_noise(HtmlWriter& html, const simulate::Study& study);
void put_html_assumptions(HtmlWriter& html, const simulate::Study& study);

// A table whose first column has names; the titles of the others above figures, to the right.
void begin_html_table(HtmlWriter& html, const std::string& first, const std::vector<std::string>& titles,
                      bool are_figures = true);
void put_html_row(HtmlWriter& html, const std::string& first, const std::vector<std::string>& cells, bool are_figures = true);

// The same with a column for each granularity.
void begin_granularity_table(HtmlWriter& html, const std::string& first, const simulate::Study& study);
void put_granularity_row(HtmlWriter& html, const std::string& first, const simulate::Study& study,
                         const std::function<std::string(const simulate::AtGranularity&)>& figure);

} // namespace plumb
