// The page of a simulated job: what noise costs, what changes gain, and what both rest on.
#include "reports/html/simulation.h"

#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/html/page_simulation.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/simulation_words.h"
#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

std::string simulation_title(const simulate::Study& study) {
    const simulate::Job& job = study.plan.base.job;
    return fmt::format("Simulation: {} on {} under noise", counted(job.ranks, "rank", "ranks"),
                       counted(job.nodes(), "node", "nodes"));
}

void put_simulation_head(HtmlWriter& html, const simulate::Study& study) {
    const simulate::Job& job = study.plan.base.job;
    const model::NoiseMachine& machine = study.plan.base.machine;
    html.open("header", {{"class", "run"}}).element("p", "plumb", {{"class", "mark"}});
    html.element("h1", simulation_title(study)).open("ul", {{"class", "facts"}});
    html.element("li", fmt::format("noise of {}{}", machine.name.empty() ? "" : machine.name + ": ",
                                   counted(machine.classes.size(), "class", "classes")));
    if (study.plan.recorded)
        html.element("li", study.plan.recorded->run);
    html.element("li", fmt::format("{}, {} each", counted(job.ranks_per_node, "rank a node", "ranks a node"),
                                   counted(job.cpus_per_node, "CPU", "CPUs")));
    html.element("li", fmt::format("{} of {}", collective_words(job.collective), format_seconds(study.collective_s)));
    html.element("li", fmt::format("{} of {} for each case", counted(study.plan.seeds, "run", "runs"),
                                   counted(job.cycles, "cycle", "cycles")));
    html.close();
    html.element(
        "p",
        std::string(study.plan.recorded ? "A recorded job was simulated again: " : "Nothing on this page was measured on a running job. "
                                                                                   "A job was simulated: ") +
            "every rank computes and then all take part in a collective, again and again, while events of noise take CPUs away. "
            "Columns of the tables stand for the work that each rank has in a cycle without noise: the granularity of the job.");
    html.element("p", simulation_verdict(study),
                 {{"class", machine.classes.empty() ? "verdict clean" : "verdict"}, {"id", "verdict"}});
    html.close();
}

void put_simulation_foot(HtmlWriter& html, const simulate::Study& study) {
    html.open("footer");
    html.text(fmt::format("Simulated by plumb simulate. The simulated time held {} events of noise on CPUs of ranks. {}",
                          format_count(std::round(study.events)),
                          followed_words(study)));
    html.close();
}

} // namespace

std::string simulation_html(const simulate::Study& study) {
    HtmlWriter html;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_html_document_head(html, simulation_title(study));
    html.open("body").open("main");
    put_simulation_head(html, study);
    kPageScript.empty() ? put_html_no_charts(html) : put_html_noscript(html);
    put_html_beside_recording(html, study);
    put_html_simulated_cycles(html, study);
    put_html_what_ifs(html, study);
    put_html_sizes(html, study);
    put_html_losers(html, study);
    put_html_lengths(html, study);
    put_html_simulated_job(html, study);
    put_html_simulated_noise(html, study);
    put_html_assumptions(html, study);
    put_simulation_foot(html, study);
    html.close();
    put_html_scripts(html, [&] { return embedded_json({{"simulation", simulation_chart_data(study)}}); });
    return html.take();
}

} // namespace plumb
