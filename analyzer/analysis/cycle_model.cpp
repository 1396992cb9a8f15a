#include "analysis/cycle_model.h"

#include "analysis/formula.h"
#include "platform/read_file.h"
#include "support/error.h"
#include "support/figures.h"
#include "support/trimmed.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace plumb {

namespace {

constexpr std::string_view kHeading = "ranks,seconds_per_cycle";
constexpr size_t kMostRows = 100'000;

std::string without_spaces(std::string_view text) {
    std::string result(text);
    std::erase_if(result, [](char character) { return character == ' ' || character == '\t'; });
    return result;
}

template <class Value> bool parse_whole(std::string_view text, Value& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void fail_at(const std::string& path, size_t line, const std::string& what) {
    throw Error(fmt::format("{}, line {}: {}", path, line, what));
}

} // namespace

CycleModel CycleModel::read(const std::string& path) {
    const std::optional<std::string> text = platform::read_file(path);
    if (!text)
        throw Error(fmt::format("cannot read the model of cycles {}: {}", path, std::strerror(errno)));
    return parse(*text, path);
}

CycleModel CycleModel::parse(const std::string& text, const std::string& path) {
    CycleModel model;
    model.path_ = path;
    size_t number = 0;
    bool has_heading = false;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line(trimmed(std::string_view(text).substr(begin, end - begin)));
        begin = end + 1;
        ++number;
        if (line.empty() || line.starts_with('#'))
            continue;
        const bool is_first = !has_heading && model.rows_.empty() && model.formula_.empty();
        if (is_first && without_spaces(line) == kHeading)
            has_heading = true;
        else if (!model.formula_.empty())
            fail_at(path, number, "a formula is one line, and this is another");
        else if (is_first && (line.find(',') == std::string::npos || line.find("ranks") != std::string::npos)) {
            model.formula_ = line;
            model.formula_line_ = number;
        } else
            model.add_row(line, number);
    }
    if (model.formula_.empty())
        model.finish_table();
    else
        (void)model.value_at(1); // says at once what is wrong with it
    return model;
}

void CycleModel::add_row(const std::string& line, size_t number) {
    const size_t comma = line.find(',');
    if (comma == std::string::npos || line.find(',', comma + 1) != std::string::npos)
        fail_at(path_, number, fmt::format("\"{}\" is no row of two columns: {}", line, kHeading));
    const std::string_view ranks = trimmed(std::string_view(line).substr(0, comma));
    const std::string_view seconds = trimmed(std::string_view(line).substr(comma + 1));
    Row row{.line = number};
    if (!parse_whole(ranks, row.ranks) || row.ranks == 0)
        fail_at(path_, number, fmt::format("\"{}\" is not a number of ranks: a whole number from 1 on is expected", ranks));
    if (!parse_whole(seconds, row.seconds) || !std::isfinite(row.seconds) || row.seconds <= 0)
        fail_at(path_, number, fmt::format("\"{}\" is not a time of a cycle: seconds above 0 are expected", seconds));
    if (rows_.size() >= kMostRows)
        fail_at(path_, number, fmt::format("a model has at most {} rows", format_count(kMostRows)));
    rows_.push_back(row);
}

void CycleModel::finish_table() {
    if (rows_.empty())
        throw Error(fmt::format("{} holds neither rows \"{}\" nor a formula of ranks", path_, kHeading));
    std::ranges::stable_sort(rows_, {}, &Row::ranks);
    for (size_t at = 1; at < rows_.size(); ++at)
        if (rows_[at].ranks == rows_[at - 1].ranks)
            fail_at(path_, rows_[at].line, fmt::format("{} ranks stand in line {} already", rows_[at].ranks, rows_[at - 1].line));
}

double CycleModel::value_at(uint64_t ranks) const {
    try {
        return value_of_formula(formula_, static_cast<double>(ranks));
    } catch (const Error& error) {
        fail_at(path_, formula_line_, error.what());
    }
}

double CycleModel::expected_s(uint64_t ranks) const {
    if (!formula_.empty()) {
        const double value = value_at(ranks);
        if (!std::isfinite(value) || value <= 0)
            fail_at(path_, formula_line_, fmt::format("the formula gives no time above 0 for {}", counted(ranks, "rank", "ranks")));
        return value;
    }
    const auto above = std::ranges::lower_bound(rows_, ranks, {}, &Row::ranks);
    if (above != rows_.end() && above->ranks == ranks)
        return above->seconds;
    if (above == rows_.begin() || above == rows_.end())
        throw Error(fmt::format("{} reaches from {} to {} ranks, and nothing beyond is guessed: add a row for {}", path_, rows_.front().ranks,
                                rows_.back().ranks, counted(ranks, "rank", "ranks")));
    const Row &low = *std::prev(above), &high = *above;
    const double part = std::log(static_cast<double>(ranks) / static_cast<double>(low.ranks)) /
                        std::log(static_cast<double>(high.ranks) / static_cast<double>(low.ranks));
    return low.seconds * std::pow(high.seconds / low.seconds, part);
}

} // namespace plumb
