// The simulation of a recorded job beside the recording.
#include "reports/html/simulation_sections.h"
#include "reports/words/recorded_words.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

void put_html_beside_recording(HtmlWriter& html, const simulate::Study& study) {
    if (!study.plan.recorded)
        return;
    html.open("section", {{"id", "recording"}}).element("h2", "Beside the recording");
    if (const auto beside = beside_recording(study)) {
        begin_html_table(html, "in a step, from one collective of all ranks to the next", {"recorded", "simulated", "difference"});
        put_html_row(html, "mean length",
                     {format_seconds(beside->step_s), format_seconds(beside->simulated_step_s),
                      difference_words(beside->step_s, beside->simulated_step_s)});
        put_html_row(html, "of it a rank waits for others",
                     {format_seconds(beside->waited_s), format_seconds(beside->simulated_waited_s),
                      difference_words(beside->waited_s, beside->simulated_waited_s)});
        html.close().close();
    } else {
        html.element("p", kNotBesideRecording);
    }
    html.open("ul");
    for (const std::string& sentence : taker_sentences(study))
        html.element("li", sentence);
    html.close();
    if (const auto missing = missing_in_simulation(study); !missing.empty()) {
        html.element("p", "What the simulation leaves out:").open("ul");
        for (const std::string& sentence : missing)
            html.element("li", sentence);
        html.close();
    }
    html.close();
}

} // namespace plumb
