#include "reports/text/noise.h"

#include "analyses/lines/launch_command.h"
#include "reports/words/noise_words.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace plumb {

namespace {

using Align = Column::Align;
using NoiseRows = std::vector<std::vector<std::string>>;

constexpr size_t kCulpritRows = 7, kClassRows = 6, kCpuRows = 4, kNodeRows = 4, kInterruptRows = 4, kAllRows = 200;
constexpr double kLeastCulpritShare = 0.005;

// "and 12 more, see --full".
void put_rest(TextCanvas& canvas, size_t rows, size_t shown) {
    if (rows > shown)
        canvas.paragraph("", 2, {{fmt::format("and {} more, see --full", rows - shown), Ink::faint}});
}

void put_culprits(TextCanvas& canvas, const NoiseSummary& noise, bool full) {
    NoiseRows rows;
    size_t all = 0;
    for (const NoiseCulprit& culprit : noise.culprits) {
        if (!full && culprit.share < kLeastCulpritShare)
            continue;
        if (++all <= (full ? kAllRows : kCulpritRows))
            rows.push_back({format_fraction(culprit.share), format_fraction(culprit.fraction), culprit_name(culprit),
                            culprit_rhythm(culprit, noise.nodes.size())});
    }
    if (rows.empty())
        return;
    canvas.heading("Who takes it: share of the loss, and of the CPUs' time");
    canvas.table(2, {{.align = Align::right, .limit = 7}, {.align = Align::right, .limit = 7}, {.limit = 34}, {.ink = Ink::faint}}, rows);
    put_rest(canvas, all, rows.size());
}

void put_classes(TextCanvas& canvas, const NoiseSummary& noise, bool full) {
    NoiseRows rows;
    for (const model::NoiseClass& one : noise.machine.classes) {
        if (rows.size() >= (full ? kAllRows : kClassRows) || (!full && one.loss_share < kLeastCulpritShare))
            break; // they are sorted by it
        const NoiseClassWords words = class_words(one, noise.nodes.size());
        rows.push_back({format_fraction(one.loss_share), words.rhythm, words.name, words.place});
    }
    canvas.heading("Classes of events: share of the loss");
    if (rows.empty()) {
        canvas.paragraph("", 2, {{noise.machine.classes.empty() ? "None: no losses repeat at one length, regularly or at random."
                                                                : "None of weight; the small ones are in --full."}});
        return;
    }
    canvas.table(2, {{.align = Align::right, .limit = 7}, {.limit = 46}, {.limit = 34}, {.ink = Ink::faint}}, rows);
    put_rest(canvas, noise.machine.classes.size(), rows.size());
}

void put_lengths(TextCanvas& canvas, const NoiseSummary& noise) {
    const double quanta = [&] {
        double sum = 0;
        for (const double count : noise.counts)
            sum += count;
        return sum;
    }();
    NoiseRows rows;
    for (const LossDecade& decade : loss_decades(noise))
        rows.push_back({noise.lost_s > 0 ? format_fraction(decade.lost_s / noise.lost_s) : "0 %", decade.length,
                        fmt::format("{} of {} quanta", format_count(decade.count), format_count(quanta))});
    canvas.heading("What each quantum lost: share of the loss");
    canvas.table(2, {{.align = Align::right, .limit = 7}, {.limit = 20}, {.ink = Ink::faint}}, rows);
}

void put_places(TextCanvas& canvas, const NoiseSummary& noise, bool full) {
    NoiseRows rows;
    if (noise.nodes.size() > 1) {
        std::vector<NoiseNodeLoss> nodes = noise.nodes;
        std::ranges::stable_sort(nodes, std::greater<>(), &NoiseNodeLoss::fraction);
        for (const NoiseNodeLoss& node : nodes)
            if (rows.size() < (full ? kAllRows : kNodeRows))
                rows.push_back({format_fraction(node.fraction), fmt::format("node {}", node.node), node.host});
        canvas.heading("Nodes, the worst first: lost of their CPUs' time");
        canvas.table(2, {{.align = Align::right, .limit = 7}, {.limit = 12}, {.ink = Ink::faint}}, rows);
        put_rest(canvas, nodes.size(), rows.size());
        rows.clear();
    }
    std::vector<NoiseCpuLoss> cpus = noise.cpus;
    std::ranges::stable_sort(cpus, std::greater<>(), &NoiseCpuLoss::fraction);
    for (const NoiseCpuLoss& one : cpus)
        if (rows.size() < (full ? kAllRows : kCpuRows))
            rows.push_back({format_fraction(one.fraction),
                            noise.nodes.size() > 1 ? fmt::format("node {} CPU {}", one.node, one.cpu->cpu) : fmt::format("CPU {}", one.cpu->cpu),
                            one.cpu->quanta ? fmt::format("{} quanta of {}", format_count(static_cast<double>(one.cpu->quanta)),
                                                          format_seconds(one.cpu->quantum_ns * 1e-9))
                                            : ""});
    canvas.heading("CPUs, the worst first: lost of their time");
    canvas.table(2, {{.align = Align::right, .limit = 7}, {.limit = 18}, {.ink = Ink::faint}}, rows);
    put_rest(canvas, cpus.size(), rows.size());
}

void put_interrupts(TextCanvas& canvas, const NoiseSummary& noise, bool full) {
    NoiseRows rows;
    for (const NoiseInterrupts& source : noise.interrupts)
        if (rows.size() < (full ? kAllRows : kInterruptRows))
            rows.push_back({fmt::format("{}/s", format_count(std::round(source.rate_hz * 10) / 10)), source.name});
    if (rows.empty())
        return;
    canvas.heading("Interrupts meanwhile, on each CPU that got them");
    canvas.table(2, {{.align = Align::right, .limit = 9}, {}}, rows);
}

} // namespace

void put_noise(TextCanvas& canvas, const Report& report, bool full) {
    const NoiseSummary& noise = *report.noise;
    put_culprits(canvas, noise, full);
    put_classes(canvas, noise, full);
    put_lengths(canvas, noise);
    put_places(canvas, noise, full);
    if (full)
        put_interrupts(canvas, noise, full);
    canvas.blank();
    for (const std::string& caveat : noise_caveats(noise))
        canvas.paragraph("", 0, {{caveat, Ink::faint}});
    const std::string run = shell_line({report.run->directory});
    canvas.paragraph("", 0, {{fmt::format("Recorded in {}.", report.run->directory), Ink::faint}});
    if (!full)
        canvas.verbatim(0, fmt::format("Details  plumb report {} --full", run));
    canvas.verbatim(0, fmt::format("Charts   plumb report {} --format html -o report.html", run));
}

} // namespace plumb
