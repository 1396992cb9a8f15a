#include "reports/text/probe.h"

#include "reports/text/canvas.h"
#include "reports/words/probe_words.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

using probe::Figure;
using probe::ProbeOutcome;
using Align = Column::Align;
using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kProbeIndent = 10, kMostRows = 16, kCell = 22;

std::string cell(const ProbeOutcome& outcome, const char* test, const std::string& place) {
    const Figure* const figure = find(outcome.figures, test, place);
    return figure ? format_with_interval(*figure) : "";
}

void put_table(TextCanvas& canvas, const char* heading, Rows rows) {
    if (rows.size() < 2)
        return;
    canvas.heading(heading);
    const size_t left_out = rows.size() - std::min(rows.size(), kMostRows + 1);
    rows.resize(rows.size() - left_out);
    std::vector<Column> columns{{.limit = 34}};
    for (size_t column = 1; column < rows[0].size(); ++column)
        columns.push_back({.align = Align::right, .limit = kCell});
    canvas.table(2, columns, rows);
    if (left_out > 0)
        canvas.paragraph("", 2, {{fmt::format("and {} more: --format json", left_out), Ink::faint}});
}

void put_machine(TextCanvas& canvas, const ProbeOutcome& outcome) {
    const probe::Measured& measured = outcome.measured;
    const probe::MachineFacts& machine = measured.machine;
    canvas.paragraph("machine", kProbeIndent, {{machine.host, Ink::strong}, {fmt::format(
        ": {}, {}, {}, {}", machine.cpu_model, counted(static_cast<uint64_t>(machine.cpu_count), "CPU", "CPUs"),
        format_bytes(static_cast<double>(machine.memory_bytes)), machine.kernel)}});
    canvas.paragraph(
        "probed", kProbeIndent,
        {{fmt::format("{} on {}: {} in {}", counted(measured.cpus.size(), "CPU", "CPUs"), format_date(measured.begin_s),
                      counted(measured.rounds, "round", "rounds"), format_seconds(measured.took_s))}});
    if (measured.signal)
        canvas.paragraph("ended", kProbeIndent,
                         {{"by a signal before the time was over: this is what was measured until then", Ink::medium}});
    if (!outcome.history_file.empty())
        canvas.paragraph("kept", kProbeIndent, {{fmt::format("as probe {} in {}", outcome.history_id, outcome.history_file)}});
}

void put_verdicts(TextCanvas& canvas, const ProbeOutcome& outcome) {
    const auto slow = words_of_slow_cpus(outcome);
    for (const SlowCpuWords& words : slow) {
        canvas.paragraph("SLOW", kProbeIndent, {{words.title + ".", Ink::high}}, Ink::high);
        canvas.paragraph("", kProbeIndent, {{words.why}});
    }
    const size_t needed = outcome.measured.rounds_needed;
    if (!slow.empty())
        return;
    if (outcome.measured.cpus.size() < 2)
        canvas.paragraph("verdict", kProbeIndent, {{"none: there is no second CPU to compare with"}});
    else if (outcome.measured.rounds < needed)
        canvas.paragraph("verdict", kProbeIndent, {{fmt::format("none: fewer than {} rounds", needed), Ink::medium}});
    else
        canvas.paragraph("verdict", kProbeIndent, {{fmt::format("no CPU is for certain slower than the others by more than {}",
                                                           format_fraction(outcome.limit)), Ink::good}});
}

void put_cpus(TextCanvas& canvas, const ProbeOutcome& outcome) {
    std::vector<const probe::CpuTurns*> order;
    for (const probe::CpuTurns& cpu : outcome.measured.cpus)
        order.push_back(&cpu);
    std::stable_partition(order.begin(), order.end(), [&](const probe::CpuTurns* cpu) { // those that matter are not cut off
        return order.size() > kMostRows &&
               std::ranges::find(outcome.slow, cpu->cpu, &probe::SlowCpu::cpu) != outcome.slow.end();
    });
    Rows rows{{"CPU", "multiply", "cache", "memory", "read memory", "clock", "had CPU"}};
    for (const probe::CpuTurns* cpu : order) {
        const std::string place = probe::place_of(cpu->cpu);
        rows.push_back({std::to_string(cpu->cpu), cell(outcome, "compute", place), cell(outcome, "cache", place),
                        cell(outcome, "memory latency", place), cell(outcome, "memory read", place),
                        cell(outcome, "core clock", place), format_fraction(probe::share_of_cpu(*cpu))});
    }
    put_table(canvas, "Each CPU", std::move(rows));
    canvas.paragraph(
        "", 2,
        {{"In parentheses: by how much the median of any of eight parts of the time was off at most; where that is as much as the "
          "median, how many times as large the largest of them is. The clock is estimated from additions, one a cycle.",
          Ink::faint}});
}

void put_copies(TextCanvas& canvas, const ProbeOutcome& outcome) {
    Rows rows{{"copies", "read memory", "slower in computing"}};
    for (const probe::CopyTurns& copies : outcome.measured.copies) {
        const std::string place = counted(copies.copies, "copy", "copies");
        rows.push_back(
            {std::to_string(copies.copies), cell(outcome, "memory read", place), cell(outcome, "compute slowdown", place)});
    }
    if (rows.size() > 2)
        put_table(canvas, "Copies at the same time", std::move(rows));
}

void put_pairs(TextCanvas& canvas, const ProbeOutcome& outcome) {
    Rows rows{{"CPUs", "hand over a line", "both compute", "both read memory"}};
    for (const probe::PairFigures& pair : outcome.pairs) {
        const std::string place = probe::place_of_pair(pair.first, pair.second);
        rows.push_back({fmt::format("{}+{}", pair.first, pair.second), cell(outcome, "line handover", place),
                        cell(outcome, "compute slowdown", place), cell(outcome, "memory read slowdown", place)});
    }
    if (rows.size() < 2)
        return;
    put_table(canvas, "Pairs: time of a cache line, and how much longer each takes beside the other", std::move(rows));
    for (const std::string& line : words_of_shared_paths(outcome))
        canvas.paragraph("", 2, {{line}});
    if (outcome.measured.pairs_left_out > 0)
        canvas.paragraph("", 2,
                         {{fmt::format("{} left out: there was no time for them (--time).",
                                       counted(outcome.measured.pairs_left_out, "pair was", "pairs were")),
                           Ink::medium}});
}

void put_memory_and_disk(TextCanvas& canvas, const ProbeOutcome& outcome) {
    Rows rows{{"", "median"}};
    for (const Figure& figure : outcome.figures)
        if (figure.test == "memory latency" && !figure.place.starts_with("CPU "))
            rows.push_back({"an access, " + figure.place, format_with_interval(figure)});
    for (const probe::NodeTurns& node : outcome.measured.nodes)
        rows.push_back({probe::place_of_node(node), cell(outcome, "memory latency", probe::place_of_node(node))});
    for (const Figure& figure : outcome.figures)
        if (figure.place == "disk")
            rows.push_back({"disk: " + figure.test, format_with_interval(figure)});
    for (const Figure& figure : outcome.figures)
        if (figure.place == "clock")
            rows.push_back({"clock: " + figure.test, format_with_interval(figure)});
    put_table(canvas, "Pages, disk, clock", std::move(rows));
    if (!outcome.measured.pages.why_not.empty())
        canvas.paragraph("", 2, {{"No figure for huge pages: " + outcome.measured.pages.why_not + "."}});
    if (!outcome.measured.disk.why_not.empty())
        canvas.paragraph("", 2, {{"Disk: " + outcome.measured.disk.why_not + "."}});
    else if (!outcome.measured.disk.read_bytes_per_s.empty())
        canvas.paragraph("", 2,
                         {{fmt::format("The disk is that of {}, in pieces of 4 MiB{}. The kernel's clock: {}.",
                                       outcome.measured.disk.folder,
                                       outcome.measured.disk.is_direct ? ", read past the page cache"
                                                                       : "; what was read may come from the page cache",
                                       outcome.measured.machine.clock_source),
                           Ink::faint}});
}

void put_against(TextCanvas& canvas, const ProbeOutcome& outcome) {
    const probe::Against& against = *outcome.against;
    const auto count = [&](bool probe::Change::*which) {
        return static_cast<size_t>(std::ranges::count(against.changes, true, which));
    };
    const size_t slower = count(&probe::Change::is_slower), faster = count(&probe::Change::is_faster);
    Rows rows{{"", "before", "now", "slower"}};
    for (const probe::Change& change : against.changes)
        if (change.is_slower || change.is_faster)
            rows.push_back({change.now.test + ", " + change.now.place, format_with_interval(change.before),
                            format_with_interval(change.now),
                            fmt::format("{}{} x", change.is_faster ? "faster " : "",
                                        three_digits(change.is_faster ? 1 / change.slowdown : change.slowdown))});
    canvas.heading(fmt::format("Against probe {} of {}", against.earlier.id, format_date(against.earlier.begin_s)));
    canvas.paragraph(
        "", 2,
        {{fmt::format("Of {}, {} for certain became slower by more than {}, {} faster.",
                      counted(against.changes.size(), "figure", "figures"), slower, format_fraction(outcome.limit), faster),
          slower ? Ink::high : Ink::good}});
    for (const std::string& line : against.machine)
        canvas.paragraph("", 2, {{"Changed: " + line + ".", Ink::medium}});
    if (rows.size() < 2)
        return;
    rows.resize(std::min(rows.size(), kMostRows + 1));
    canvas.table(2, {{.limit = 42}, {.align = Align::right, .limit = kCell}, {.align = Align::right, .limit = kCell},
                     {.align = Align::right, .limit = 16}}, rows);
}

} // namespace

std::string probe_text(const ProbeOutcome& outcome, const TextStyle& style) {
    TextCanvas canvas(style);
    put_machine(canvas, outcome);
    put_verdicts(canvas, outcome);
    if (outcome.against)
        put_against(canvas, outcome);
    put_cpus(canvas, outcome);
    put_copies(canvas, outcome);
    put_pairs(canvas, outcome);
    put_memory_and_disk(canvas, outcome);
    return canvas.take();
}

std::string probe_list_text(const std::vector<probe::EarlierProbe>& probes, const std::string& file, const TextStyle& style) {
    TextCanvas canvas(style);
    canvas.paragraph("history", kProbeIndent, {{fmt::format("{}: {}", file, counted(probes.size(), "probe", "probes"))}});
    Rows rows{{"number", "date", "host", "CPUs", "rounds", "took", "kernel"}};
    for (const probe::EarlierProbe& probe : probes)
        rows.push_back({std::to_string(probe.id), format_date(probe.begin_s), probe.host, probe.cpus,
                        std::to_string(probe.rounds), format_seconds(probe.took_s), probe.kernel});
    if (rows.size() > 1)
        canvas.table(2, {{.align = Align::right, .limit = 8}, {.limit = 18}, {.limit = 24}, {.limit = 16},
                         {.align = Align::right, .limit = 8}, {.align = Align::right, .limit = 12}, {.limit = 40}}, rows);
    return canvas.take();
}

} // namespace plumb
