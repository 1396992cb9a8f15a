#include "noise/losses_csv.h"

#include "support/error.h"
#include "support/trimmed.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace plumb::noise {

namespace {

using model::NoiseLoss;

constexpr std::string_view kAroundFields = " \t\r\"";
constexpr size_t kMostRows = 16'000'000, kMostColumns = 64, kLongestLine = 4096;
constexpr uint32_t kMostTableNodes = 1u << 24, kMostTableCpus = 1u << 14;
constexpr double kShortestLoss_s = 1e-9;                       // none: rows of quanta that lost nothing
constexpr double kLongestMeasured_s = 1e9, kRounding_s = 2e-6; // 30 years; times are often written in whole microseconds

struct Row {
    NoiseLoss loss;
    uint32_t line;
};

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return {};
    return value;
}

double unit_of(std::string_view suffix) { // 0: none
    constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
        {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}}};
    for (const auto& unit : kUnits)
        if (unit.first == suffix)
            return unit.second;
    return 0;
}

// What is beyond ASCII or not printable is not repeated on a terminal.
std::string shown(std::string_view text) {
    std::string result;
    for (const char letter : text.substr(0, 40))
        result += letter >= ' ' && letter <= '~' ? letter : '?';
    return result;
}

class TableReader {
  public:
    TableReader(std::istream& text, const std::string& path) : text_(text), path_(path) {}

    LossesTable read() {
        while (next_line())
            if (line_.starts_with('#'))
                take_comment();
            else if (!trimmed(line_, kAroundFields).empty())
                has_header_ ? take_row() : take_header();
        if (!has_header_)
            refuse_file("is no table of losses: it has no line \"node,cpu,time_s,loss_s\"");
        return finished();
    }

  private:
    enum Column { node, cpu, time, loss, kColumns };

    [[noreturn]] void refuse_file(const std::string& why) const { throw Error(fmt::format("{} {}", path_, why)); }
    [[noreturn]] void refuse(uint32_t line, const std::string& why) const {
        throw Error(fmt::format("{}, line {}: {}", path_, line, why));
    }

    // Into line_, without its end.
    bool next_line() {
        std::array<char, kLongestLine> part{};
        text_.getline(part.data(), part.size());
        const auto length = static_cast<size_t>(text_.gcount());
        if (text_.bad())
            refuse_file(fmt::format("cannot be read to its end: {}", std::strerror(errno)));
        if (text_.eof() && length == 0)
            return false;
        if (line_number_ == std::numeric_limits<uint32_t>::max())
            refuse_file("has too many lines");
        ++line_number_;
        if (text_.fail() && !text_.eof())
            refuse(line_number_, fmt::format("is longer than {} characters: this is no table of losses", kLongestLine - 1));
        line_.assign(part.data(), text_.eof() ? length : length - 1);
        return true;
    }

    void take_comment() {
        const std::string_view text = std::string_view(line_).substr(1);
        const size_t equals = text.find('=');
        if (equals == text.npos)
            return;
        const std::string_view key = trimmed(text.substr(0, equals), kAroundFields), value = trimmed(text.substr(equals + 1), kAroundFields);
        const auto take = [&](std::optional<double>& into, double least, double most, bool is_whole) {
            const auto number = number_in(value);
            if (!number || *number < least || *number > most || (is_whole && *number != std::floor(*number)))
                refuse(line_number_, fmt::format("{} is \"{}\": a {}number from {:.3g} to {:.10g} is needed", key, shown(value),
                                                 is_whole ? "whole " : "", least, most));
            into = number;
        };
        if (key == "measured_s")
            take(measured_s_, 1e-9, kLongestMeasured_s, false);
        else if (key == "least_s")
            take(least_s_, 0, kLongestMeasured_s, false);
        else if (key == "nodes")
            take(nodes_, 1, kMostTableNodes, true);
        else if (key == "cpus_per_node")
            take(cpus_, 1, kMostTableCpus, true);
    }

    // The fields of line_ into fields_; returns how many.
    size_t split() {
        size_t count = 0;
        for (std::string_view rest = line_; count < kMostColumns;) {
            const size_t comma = rest.find(',');
            fields_[count++] = trimmed(rest.substr(0, comma), kAroundFields);
            if (comma == rest.npos)
                return count;
            rest.remove_prefix(comma + 1);
        }
        refuse(line_number_, fmt::format("has more than {} columns", kMostColumns));
    }

    void take_header() {
        columns_ = split();
        place_.fill(kMostColumns);
        const auto take = [&](Column column, size_t index) {
            if (place_[column] != kMostColumns)
                refuse(line_number_, fmt::format("\"{}\" is a column twice", shown(fields_[index])));
            place_[column] = index;
        };
        for (size_t index = 0; index < columns_; ++index) {
            const std::string_view name = fields_[index];
            if (name == "node")
                take(node, index);
            else if (name == "cpu")
                take(cpu, index);
            else if (name.starts_with("time") && (unit_[time] = unit_of(name.substr(4))) > 0)
                take(time, index);
            else if (name.starts_with("loss") && (unit_[loss] = unit_of(name.substr(4))) > 0)
                take(loss, index);
        }
        constexpr std::array<const char*, kColumns> kNames{"node", "cpu", "time_s", "loss_s"};
        for (size_t column = 0; column < kColumns; ++column)
            if (place_[column] == kMostColumns)
                refuse(line_number_,
                       fmt::format("there is no column \"{}\": the first line must name node, cpu, time_s and loss_s",
                                   kNames[column]));
        has_header_ = true;
    }

    double value(Column column, const char* name) const {
        const std::string_view text = fields_[place_[column]];
        const auto number = number_in(text);
        if (!number || *number < 0)
            refuse(line_number_, fmt::format("{} is \"{}\": a number of 0 or more is needed", name, shown(text)));
        return *number;
    }

    void take_row() {
        if (const size_t count = split(); count != columns_)
            refuse(line_number_, fmt::format("has {} columns, and the table's first line has {}", count, columns_));
        const double node_number = value(node, "node"), cpu_number = value(cpu, "cpu");
        const double most_nodes = nodes_.value_or(kMostTableNodes);
        if (node_number != std::floor(node_number) || node_number >= most_nodes)
            refuse(line_number_, fmt::format("node is {}: nodes are numbered from 0 to {:.0f}{}", shown(fields_[place_[node]]),
                                             most_nodes - 1, nodes_ ? ", as \"# nodes=\" says" : ""));
        if (cpu_number != std::floor(cpu_number) || cpu_number >= kMostTableCpus)
            refuse(line_number_,
                   fmt::format("cpu is {}: a whole number below {} is needed", shown(fields_[place_[cpu]]), kMostTableCpus));
        const double begin_s = value(time, "time") * unit_[time], length_s = value(loss, "loss") * unit_[loss];
        const double most_s = measured_s_.value_or(kLongestMeasured_s);
        if (begin_s > most_s || length_s > most_s)
            refuse(line_number_, fmt::format("{} is {:.6g} s, and {:.6g} s were measured", begin_s > most_s ? "time" : "loss",
                                             begin_s > most_s ? begin_s : length_s, most_s));
        if (length_s < kShortestLoss_s)
            return;
        if (least_s_ && length_s < *least_s_ - kRounding_s)
            refuse(line_number_,
                   fmt::format("loss is {:.6g} s, and losses below {:.6g} s are not in the table, as \"# least_s=\" says",
                               length_s, *least_s_));
        if (rows_.size() >= kMostRows)
            refuse(line_number_,
                   fmt::format("there are more than {} million losses: leave out the shortest", kMostRows / 1'000'000));
        rows_.push_back(
            {{static_cast<uint32_t>(node_number), static_cast<int32_t>(cpu_number), begin_s, length_s}, line_number_});
    }

    void expect_no_overlap() const {
        for (size_t index = 1; index < rows_.size(); ++index) {
            const NoiseLoss &before = rows_[index - 1].loss, &loss = rows_[index].loss;
            if (before.node == loss.node && before.cpu == loss.cpu &&
                loss.begin_s < before.begin_s + before.length_s - kRounding_s)
                refuse(rows_[index].line,
                       fmt::format("the loss of node {}, CPU {} at {:.6f} s begins before that of line {} has ended", loss.node,
                                   loss.cpu, loss.begin_s, rows_[index - 1].line));
        }
    }

    LossesTable finished() {
        const auto order = [](const Row& a, const Row& b) {
            return std::tie(a.loss.node, a.loss.cpu, a.loss.begin_s) < std::tie(b.loss.node, b.loss.cpu, b.loss.begin_s);
        };
        if (!std::ranges::is_sorted(rows_, order))
            std::ranges::sort(rows_, order);
        expect_no_overlap();
        LossesTable table;
        model::NoiseLosses& result = table.losses;
        std::vector<bool> known_cpus(kMostTableCpus);
        uint64_t noisy_nodes = 0, noisy_cpus = 0;
        double end_s = 0, shortest_s = rows_.empty() ? 0 : INFINITY;
        result.losses.reserve(rows_.size());
        for (const Row& row : rows_) {
            const NoiseLoss& loss = row.loss;
            const bool is_new_node = result.losses.empty() || result.losses.back().node != loss.node;
            noisy_nodes += is_new_node;
            noisy_cpus += is_new_node || result.losses.back().cpu != loss.cpu;
            known_cpus[static_cast<size_t>(loss.cpu)] = true;
            end_s = std::max(end_s, loss.begin_s + loss.length_s);
            shortest_s = std::min(shortest_s, loss.length_s);
            result.losses.push_back(loss);
        }
        const auto different_cpus = static_cast<uint32_t>(std::ranges::count(known_cpus, true));
        if (cpus_ && different_cpus > *cpus_)
            refuse_file(
                fmt::format("has losses of {} different CPUs, and \"# cpus_per_node=\" says {:.0f}", different_cpus, *cpus_));
        table.measured_is_derived = !measured_s_;
        table.nodes_are_derived = !nodes_;
        table.cpus_are_derived = !cpus_;
        table.least_is_derived = !least_s_;
        result.measured_s = measured_s_.value_or(end_s);
        result.nodes = nodes_ ? static_cast<uint32_t>(*nodes_) : rows_.empty() ? 0 : rows_.back().loss.node + 1;
        result.cpus_per_node = cpus_ ? static_cast<uint32_t>(*cpus_) : different_cpus;
        result.least_s = least_s_.value_or(shortest_s);
        table.silent_nodes = result.nodes - noisy_nodes;
        table.silent_cpus = noisy_nodes * result.cpus_per_node - noisy_cpus;
        return table;
    }

    std::istream& text_;
    const std::string& path_;
    std::string line_;
    uint32_t line_number_ = 0;
    std::array<std::string_view, kMostColumns> fields_{}; // of line_
    size_t columns_ = 0;
    bool has_header_ = false;
    std::array<size_t, kColumns> place_{};
    std::array<double, kColumns> unit_{};
    std::optional<double> measured_s_, nodes_, cpus_, least_s_;
    std::vector<Row> rows_;
};

} // namespace

LossesTable parse_losses_table(std::istream& text, const std::string& path) {
    return TableReader(text, path).read();
}

LossesTable read_losses_table(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Error(fmt::format("cannot read the losses from {}: {}", path, std::strerror(errno)));
    return parse_losses_table(file, path);
}

model::NoiseLosses read_losses_csv(const std::string& path) {
    return read_losses_table(path).losses;
}

} // namespace plumb::noise
