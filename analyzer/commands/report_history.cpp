#include "commands/report_history.h"

#include "reports/json/system_history.h"
#include "reports/output.h"
#include "reports/text/system_history.h"
#include "reports/text/terminal.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <utility>

namespace plumb {

namespace {

constexpr size_t kMostLineBytes = 4 << 20;
constexpr uint64_t kSecond_ns = 1'000'000'000;

struct HistoryFile {
    std::vector<HistoryEntry> entries;
    std::vector<std::string> lines; // of these
    size_t damaged = 0;
};

HistoryFile read_history(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    HistoryFile history;
    for (std::string line; std::getline(file, line);) {
        if (line.empty())
            continue;
        if (auto entry = line.size() <= kMostLineBytes ? parse_history_line(line) : std::nullopt) {
            history.entries.push_back(std::move(*entry));
            history.lines.push_back(std::move(line));
        } else {
            ++history.damaged;
        }
    }
    if (history.entries.empty())
        throw Error(fmt::format("{} holds no interval of plumb system --history: {} damaged", path, history.damaged));
    return history;
}

// A moment, or one of each day.
struct AskedTime {
    uint64_t unix_ns = 0;
    int second_of_day = -1; // local time
};

AskedTime parse_time(const std::string& text) {
    if (text.starts_with("@")) {
        uint64_t seconds = 0;
        const char* const end = text.data() + text.size();
        if (const auto [stop, error] = std::from_chars(text.data() + 1, end, seconds);
            error == std::errc{} && stop == end && seconds < 10'000'000'000)
            return {seconds * kSecond_ns, -1};
    }
    for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
        std::tm date{};
        if (const char* const end = strptime(text.c_str(), format, &date); end && !*end) {
            date.tm_isdst = -1;
            if (const std::time_t seconds = std::mktime(&date); seconds > 0)
                return {static_cast<uint64_t>(seconds) * kSecond_ns, -1};
        }
    }
    for (const char* format : {"%H:%M:%S", "%H:%M"}) {
        std::tm date{};
        if (const char* const end = strptime(text.c_str(), format, &date); end && !*end)
            return {0, date.tm_hour * 3600 + date.tm_min * 60 + date.tm_sec};
    }
    throw UsageError(fmt::format("--at {}: no time; as \"2026-01-17 14:30\", 14:30 (the latest there is) or @1768660200", text));
}

// The latest moment of this time of day that is not after the last interval.
uint64_t latest(int second_of_day, const std::vector<HistoryEntry>& entries) {
    const auto last_s = static_cast<std::time_t>(entries.back().end_unix_ns / kSecond_ns);
    for (int days_back = 0; days_back < 2; ++days_back) {
        std::tm date{};
        localtime_r(&last_s, &date);
        date.tm_mday -= days_back;
        date.tm_hour = second_of_day / 3600;
        date.tm_min = second_of_day / 60 % 60;
        date.tm_sec = second_of_day % 60;
        date.tm_isdst = -1;
        if (const std::time_t moment = std::mktime(&date); moment <= last_s)
            return static_cast<uint64_t>(moment) * kSecond_ns;
    }
    return entries.back().begin_unix_ns;
}

uint64_t distance_ns(const HistoryEntry& entry, uint64_t time_ns) {
    return time_ns < entry.begin_unix_ns ? entry.begin_unix_ns - time_ns
           : time_ns > entry.end_unix_ns ? time_ns - entry.end_unix_ns
                                         : 0;
}

} // namespace

bool is_history_file(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        return false;
    std::ifstream file(path, std::ios::binary);
    std::string begin(64, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return begin.find("plumb-system-history/") != std::string::npos;
}

void print_history(const std::string& path, const std::string& at, const ReportOptions& options, std::FILE* stream) {
    if (options.format != "text" && options.format != "json")
        throw UsageError(fmt::format("a history is printed as text or json, not as {}", options.format));
    const AskedTime asked = at.empty() ? AskedTime{} : parse_time(at);
    const HistoryFile history = read_history(path);
    std::string text;
    TextStyle style;
    if (options.output.empty())
        style = detect_style(stream, [](const char* name) -> const char* { return std::getenv(name); });
    if (at.empty() && options.format == "json") {
        for (const std::string& line : history.lines)
            text += line + '\n';
    } else if (at.empty()) {
        text = history_text(history.entries, history.damaged, style);
    } else {
        const uint64_t time_ns = asked.second_of_day < 0 ? asked.unix_ns : latest(asked.second_of_day, history.entries);
        const auto nearest =
            std::ranges::min_element(history.entries, {}, [&](const HistoryEntry& each) { return distance_ns(each, time_ns); });
        const uint64_t away_s = distance_ns(*nearest, time_ns) / kSecond_ns;
        const std::string remark = away_s == 0 ? ""
                                               : fmt::format("No interval holds {}: the nearest is {} {}.", at,
                                                             format_seconds(static_cast<double>(away_s)),
                                                             time_ns < nearest->begin_unix_ns ? "later" : "earlier");
        text = options.format == "json" ? history.lines[static_cast<size_t>(nearest - history.entries.begin())] + '\n'
                                        : history_entry_text(*nearest, remark, style);
    }
    write_where_asked([&](std::FILE* file, const std::string& name) { write_all(text, file, name); }, options.output, stream);
}

} // namespace plumb
