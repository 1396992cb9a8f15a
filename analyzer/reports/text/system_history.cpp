#include "reports/text/system_history.h"

#include "reports/text/system.h"
#include "reports/words/system_words.h"
#include "support/figures.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>

namespace plumb {

namespace {

constexpr size_t kMostHistoryRows = 1000;

std::string local_time(uint64_t unix_ns, const char* form) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
    std::tm date{};
    localtime_r(&seconds, &date);
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, form, &date));
}

std::string of_time(double seconds, const CpuTime& time) {
    return format_fraction(time.all_s() > 0 ? seconds / time.all_s() : 0);
}

size_t worth_a_look(const HistoryEntry& entry) {
    return static_cast<size_t>(
        std::ranges::count_if(entry.findings, [](const HistoryFinding& each) { return each.severity != "info"; }));
}

} // namespace

std::string history_text(const std::vector<HistoryEntry>& entries, size_t damaged, const TextStyle& style) {
    TextCanvas canvas(style);
    const size_t first = entries.size() > kMostHistoryRows ? entries.size() - kMostHistoryRows : 0;
    canvas.paragraph(
        "", 0,
        {{fmt::format("{} of {}, from {} to {}", counted(entries.size(), "interval", "intervals"), entries.back().host,
                      local_time(entries.front().begin_unix_ns, "%F %T"), local_time(entries.back().end_unix_ns, "%F %T")),
          Ink::strong}});
    if (damaged > 0)
        canvas.paragraph("", 0, {{counted(damaged, "line is", "lines are") + " damaged and left out", Ink::medium}});
    if (first > 0)
        canvas.paragraph("", 0, {{fmt::format("the last {}; --format json has all", kMostHistoryRows), Ink::faint}});
    canvas.blank();
    std::vector<std::vector<std::string>> rows{
        {"from", "for", "user", "kernel", "host", "idle", "without CPU", "findings", "most time"}};
    for (size_t i = first; i < entries.size(); ++i) {
        const HistoryEntry& entry = entries[i];
        const SystemSummary& system = entry.system;
        const size_t findings = worth_a_look(entry);
        rows.push_back({local_time(entry.begin_unix_ns, "%F %T"), format_seconds(system.seconds),
                        of_time(system.time.user_s, system.time),
                        of_time(system.time.system_s + system.time.interrupt_s, system.time),
                        of_time(system.time.steal_s, system.time), of_time(system.time.idle_s, system.time),
                        three_digits(system.waiting_threads), findings > 0 ? std::to_string(findings) : "",
                        system.programs.empty() ? "" : system_program_name(system.programs.front())});
    }
    const Column figure{.align = Column::Align::right, .limit = 12};
    canvas.table(0, {{.limit = 20}, figure, figure, figure, figure, figure, figure, figure, {.limit = 28}}, rows);
    canvas.blank();
    canvas.paragraph("", 0, {{"One of them: --at TIME", Ink::faint}});
    return canvas.take();
}

std::string history_entry_text(const HistoryEntry& entry, const std::string& remark, const TextStyle& style) {
    TextCanvas canvas(style);
    if (!remark.empty())
        canvas.paragraph("", 0, {{remark, Ink::medium}});
    canvas.paragraph("", 0,
                     {{fmt::format("{} from {} to {}", entry.host, local_time(entry.begin_unix_ns, "%F %T"),
                                   local_time(entry.end_unix_ns, "%T")),
                       Ink::strong}});
    canvas.blank();
    canvas.paragraph("", 0, {{system_verdict(entry.system), Ink::strong}});
    for (const HistoryFinding& finding : entry.findings)
        canvas.paragraph(fmt::format("{:<8}", finding.severity), 8, {{finding.title}, {"  [" + finding.id + "]", Ink::faint}});
    put_system(canvas, entry.system, true);
    return canvas.take();
}

} // namespace plumb
