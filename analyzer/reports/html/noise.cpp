// The sections of a measurement of noise.
#include "reports/html/page_assets.h"
#include "reports/html/page_noise.h"
#include "reports/html/sections.h"
#include "reports/words/noise_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace plumb {

namespace {

constexpr size_t kMostCulprits = 40, kMostClassesShown = 60, kMostCpusShown = 256;

void begin_table(HtmlWriter& html, std::initializer_list<const char*> titles) {
    html.open("table").open("thead").open("tr");
    for (const char* title : titles)
        html.element("th", title, {{"scope", "col"}});
    html.close().close().open("tbody");
}

void put_html_culprits(HtmlWriter& html, const NoiseSummary& noise) {
    html.element("h2", "Who takes the time");
    begin_table(html, {"who", "share of the loss", "of the CPUs' time", "events"});
    for (size_t i = 0; i < std::min(noise.culprits.size(), kMostCulprits); ++i) {
        const NoiseCulprit& culprit = noise.culprits[i];
        html.open("tr")
            .element("th", culprit_name(culprit), {{"scope", "row"}})
            .element("td", format_fraction(culprit.share), {{"class", "number"}})
            .element("td", format_fraction(culprit.fraction), {{"class", "number"}})
            .element("td", culprit_rhythm(culprit, noise.nodes.size()), {{"class", "muted"}})
            .close();
    }
    html.close().close();
    if (noise.culprits.size() > kMostCulprits)
        html.element("p", fmt::format("{} with less are left out.", noise.culprits.size() - kMostCulprits), {{"class", "muted"}});
}

void put_html_classes(HtmlWriter& html, const NoiseSummary& noise) {
    html.element("h2", "Classes of events");
    if (noise.machine.classes.empty()) {
        html.element("p", "None: no losses repeat at one length, regularly or at random.");
        return;
    }
    begin_table(html, {"who", "what", "where", "events", "share of the loss", "confidence"});
    for (size_t i = 0; i < std::min(noise.machine.classes.size(), kMostClassesShown); ++i) {
        const model::NoiseClass& one = noise.machine.classes[i];
        const NoiseClassWords words = class_words(one, noise.nodes.size());
        html.open("tr")
            .element("th", words.name, {{"scope", "row"}})
            .element("td", words.rhythm)
            .element("td", words.place)
            .element("td", format_count(static_cast<double>(one.events)), {{"class", "number"}})
            .element("td", format_fraction(one.loss_share), {{"class", "number"}})
            .element("td", format_fraction(one.confidence), {{"class", "number"}})
            .close();
    }
    html.close().close();
}

void put_html_cpus(HtmlWriter& html, const NoiseSummary& noise) {
    std::vector<NoiseCpuLoss> cpus = noise.cpus;
    std::ranges::stable_sort(cpus, std::greater<>(), &NoiseCpuLoss::fraction);
    html.open("details").element("summary", "Each CPU, the worst first");
    begin_table(html, {"node", "CPU", "lost", "quanta", "fastest quantum", "lost to other processes"});
    for (size_t i = 0; i < std::min(cpus.size(), kMostCpusShown); ++i) {
        const model::MeasuredCpu& cpu = *cpus[i].cpu;
        html.open("tr")
            .element("td", fmt::format("{} ({})", cpus[i].node, noise.nodes[cpus[i].node].host))
            .element("td", std::to_string(cpu.cpu), {{"class", "number"}})
            .element("td", format_fraction(cpus[i].fraction), {{"class", "number"}})
            .element("td", format_count(static_cast<double>(cpu.quanta)), {{"class", "number"}})
            .element("td", format_seconds(cpu.quantum_ns * 1e-9), {{"class", "number"}})
            .element("td", format_seconds(static_cast<double>(cpu.preempted_ns) * 1e-9), {{"class", "number"}})
            .close();
    }
    html.close().close().close();
}

void put_html_noise_charts(HtmlWriter& html, const NoiseSummary& noise) {
    html.element("h2", "Length of the losses");
    put_html_chart(html, "chart-noise-lengths",
                   "Quanta by what they lost; both axes are logarithmic. Peaks are events that repeat with one length.");
    html.element("h2", "Over time");
    put_html_chart(html, "chart-noise-time",
                   "Lost part of each interval. Dark: the mean of the intervals that one column stands for; pale: the worst of them.");
    if (noise.nodes.size() > 1) {
        html.element("h2", "Nodes");
        put_html_chart(html, "chart-noise-nodes", "Lost part of each node's CPU time, by the node's number.");
    }
    if (const uint32_t every = repeating_nodes(noise)) {
        html.element("h3", fmt::format("Every {} nodes", every));
        put_html_chart(html, "chart-noise-period",
                       fmt::format("The same, laid out in rows of {} nodes: columns that stand out are nodes whose place in the "
                                   "repeating structure makes them noisy.",
                                   every));
    }
}

} // namespace

void put_html_noise(HtmlWriter& html, const Report& report) {
    const NoiseSummary& noise = *report.noise;
    html.open("section", {{"id", "noise"}});
    put_html_culprits(html, noise);
    put_html_classes(html, noise);
    if (!kPageScript.empty())
        put_html_noise_charts(html, noise);
    put_html_cpus(html, noise);
    html.element("h2", "What the figures carry");
    for (const std::string& caveat : noise_caveats(noise))
        html.element("p", caveat);
    html.close();
}

} // namespace plumb
