#include "reports/html/page_mpi.h"

#include "reports/html/rounded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

// With all of them a page stays below 500 KiB.
constexpr size_t kMostBars = 128, kMostHeatRows = 96, kMostHeatColumns = 160, kMostSizeSites = 8;
constexpr size_t kMostMatrixSide = 256, kMostMatrixPlaces = 4'000;

// To three digits, and to tenths: what a colour can show.
double rounded_to_digits(double value) {
    const double size = std::abs(value);
    return size < 100 ? rounded(value, 10) : rounded(value, std::pow(10, 2 - std::floor(std::log10(size))));
}

size_t step_for(size_t count, size_t most) { return std::max<size_t>(1, (count + most - 1) / most); }

// Mean seconds of a rank: elapsed, compute, waiting in collectives, collectives, late senders, late receivers, other MPI.
using Parts = std::array<double, 7>;

Parts parts_of(const model::MpiRankRow& row) {
    return {row.elapsed_s,     row.compute_s,       row.collective_wait_s, row.collective_s,
            row.late_sender_s, row.late_receiver_s, row.other_mpi_s};
}

Json bar(int first, size_t count, bool alone, const Parts& parts) {
    Json values = Json::array({first, count, alone});
    for (const double seconds : parts)
        values.push_back(rounded(seconds, 1e6));
    return values;
}

std::set<int> outstanding(const MpiSummary& summary) {
    std::set<int> ranks;
    for (const model::MpiRankRow* row : summary.awaited)
        ranks.insert(row->rank);
    for (const model::MpiHeatMap::Row& row : summary.job->arrivals.rows)
        if (row.outlier)
            ranks.insert(row.first_rank);
    return ranks;
}

// Few ranks: one bar each. Many: those that stand out first, then bins of consecutive ones.
Json bars(const MpiSummary& summary) {
    const std::vector<model::MpiRankRow>& rows = summary.job->ranks;
    Json list = Json::array();
    const size_t step = step_for(rows.size(), kMostBars);
    if (step > 1) {
        const std::set<int> alone = outstanding(summary);
        for (const model::MpiRankRow& row : rows)
            if (alone.contains(row.rank))
                list.push_back(bar(row.rank, 1, true, parts_of(row)));
    }
    for (size_t begin = 0; begin < rows.size(); begin += step) {
        const size_t end = std::min(rows.size(), begin + step);
        Parts sum = {};
        for (size_t index = begin; index < end; ++index) {
            const Parts parts = parts_of(rows[index]);
            for (size_t part = 0; part < sum.size(); ++part)
                sum[part] += parts[part] / static_cast<double>(end - begin);
        }
        list.push_back(bar(rows[begin].rank, end - begin, false, sum));
    }
    return list;
}

// Mean of a block of cells, by ranks and collectives; microseconds, null where nobody was.
Json heat_cell(const model::MpiHeatMap& map, size_t row_begin, size_t row_end, size_t column_begin, size_t column_end) {
    double sum_s = 0, weight = 0;
    for (size_t row = row_begin; row < row_end; ++row)
        for (size_t column = column_begin; column < column_end; ++column) {
            const double mean_s = map.mean_s[row * map.columns.size() + column];
            if (!std::isfinite(mean_s))
                continue;
            const double part = static_cast<double>(map.rows[row].ranks) *
                                static_cast<double>(std::max<uint64_t>(1, map.columns[column].epochs));
            sum_s += mean_s * part;
            weight += part;
        }
    return weight > 0 ? Json(rounded_to_digits(sum_s / weight * 1e6)) : Json(nullptr);
}

Json heat_map(const model::MpiHeatMap& map) {
    if (map.rows.empty() || map.columns.empty() || map.mean_s.size() < map.rows.size() * map.columns.size())
        return nullptr;
    const size_t outliers = static_cast<size_t>(std::ranges::count(map.rows, true, &model::MpiHeatMap::Row::outlier));
    const size_t row_step = step_for(map.rows.size() - outliers, kMostHeatRows);
    const size_t column_step = step_for(map.columns.size(), kMostHeatColumns);
    Json columns = Json::array(), rows = Json::array(), cells = Json::array();
    for (size_t begin = 0; begin < map.columns.size(); begin += column_step) {
        const size_t end = std::min(map.columns.size(), begin + column_step);
        columns.push_back(Json::array({rounded(map.columns[begin].begin_s, 1e6), rounded(map.columns[end - 1].end_s, 1e6)}));
    }
    for (size_t begin = 0; begin < map.rows.size();) {
        const bool outlier = map.rows[begin].outlier;
        const size_t end = outlier ? begin + 1 : std::min(map.rows.size(), begin + row_step);
        uint64_t ranks = 0;
        for (size_t row = begin; row < end; ++row)
            ranks += map.rows[row].ranks;
        rows.push_back(Json::array({map.rows[begin].first_rank, ranks, outlier}));
        Json line = Json::array();
        for (size_t column = 0; column < map.columns.size(); column += column_step)
            line.push_back(heat_cell(map, begin, end, column, std::min(map.columns.size(), column + column_step)));
        cells.push_back(std::move(line));
        begin = end;
    }
    return {{"rows", rows}, {"columns", columns}, {"late_us", cells}};
}

// Messages by size, of the call sites that moved bytes, by number of messages.
Json sizes(const MpiSummary& summary) {
    std::vector<std::pair<uint64_t, const MpiSiteLine*>> busiest;
    for (const MpiSiteLine& line : summary.sites) {
        uint64_t messages = 0;
        for (size_t size = 1; size < line.site->sizes.size(); ++size)
            messages += line.site->sizes[size];
        if (messages > 0)
            busiest.emplace_back(messages, &line);
    }
    std::ranges::stable_sort(busiest, std::ranges::greater(), [](const auto& entry) { return entry.first; });
    Json list = Json::array();
    for (size_t index = 0; index < busiest.size() && index < kMostSizeSites; ++index) {
        const MpiSiteLine& line = *busiest[index].second;
        const std::string file = line.frame.file.substr(line.frame.file.rfind('/') + 1);
        const std::string place = file.empty() ? line.frame.function : fmt::format("{}:{}", file, line.frame.line);
        Json counts = Json::array();
        for (size_t size = 0; size < line.site->sizes.size(); ++size)
            if (line.site->sizes[size] > 0)
                counts.push_back(Json::array({size, line.site->sizes[size]}));
        list.push_back({{"site", fmt::format("{} at {}", line.site->call, place)}, {"counts", counts}});
    }
    return list;
}

// Microseconds with four digits of the shortest: the page shows no more.
Json cycles(const MpiSummary& summary) {
    const model::MpiCycles& all = summary.job->cycles;
    if (all.count < 2)
        return nullptr;
    const double steps = 1e4 / std::max(all.least_s * 1e6, 1e-3);
    Json series = Json::array(), histogram = Json::array();
    for (const model::MpiCycles::Point& point : all.series)
        series.push_back(Json::array({point.first, point.cycles, rounded(point.begin_s, 1e6), rounded(point.end_s, 1e6),
                                      rounded(1e6 * point.least_s, steps), rounded(1e6 * point.mean_s, steps),
                                      rounded(1e6 * point.most_s, steps)}));
    for (const model::MpiCycles::Bin& bin : all.histogram)
        histogram.push_back(Json::array({rounded(1e6 * bin.from_s, steps), rounded(1e6 * bin.to_s, steps), bin.cycles}));
    const bool is_expected = summary.expectation && summary.expectation->why_not.empty();
    return {{"series", std::move(series)},
            {"histogram", std::move(histogram)},
            {"attainable_us", rounded(1e6 * all.attainable_s, steps)},
            {"expected_us", is_expected ? Json(1e6 * summary.expectation->expected_s) : Json(nullptr)}};
}

} // namespace

const MpiSummary* charted_mpi_job(const Report& report) {
    const auto largest = std::ranges::max_element(report.mpi, {}, [](const MpiSummary& summary) { return summary.job->size; });
    return largest == report.mpi.end() ? nullptr : &*largest;
}

Json mpi_matrix_data(const model::MpiMatrix& matrix, int size) {
    if (matrix.places.empty())
        return nullptr;
    using Cell = std::pair<uint32_t, uint32_t>;
    using Sum = std::pair<uint64_t, uint64_t>; // messages, bytes
    for (uint32_t factor = 1;; factor *= 2) {
        const uint64_t bin = uint64_t{matrix.bin} * factor;
        std::map<Cell, Sum> cells;
        for (const model::MpiMatrix::Place& place : matrix.places) {
            Sum& sum = cells[{place.from / factor, place.to / factor}];
            sum.first += place.messages;
            sum.second += place.bytes;
        }
        if (bin * kMostMatrixSide < static_cast<uint64_t>(size) || cells.size() > kMostMatrixPlaces)
            continue; // ends: bins double, and places are at most one when a bin holds all ranks
        Json places = Json::array();
        for (const auto& [cell, sum] : cells)
            places.push_back(Json::array({cell.first, cell.second, sum.first, sum.second}));
        return {{"bin", bin}, {"places", places}};
    }
}

Json mpi_chart_data(const MpiSummary& summary) {
    return {{"size", summary.job->size},
            {"bars", bars(summary)},
            {"arrivals", heat_map(summary.job->arrivals)},
            {"cycles", cycles(summary)},
            {"matrix", mpi_matrix_data(summary.job->matrix, summary.job->size)},
            {"sizes", sizes(summary)}};
}

} // namespace plumb
