#include "replay/collectives/heat_map.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace plumb::replay {

HeatMapShape::HeatMapShape(const Job& job, const EpochTable& epochs, const std::vector<uint32_t>& outliers)
    : first_(epochs.epochs().data()) {
    const size_t ranks = job.ranks.size();
    const size_t bin = std::max<size_t>(1, (ranks + kMostRows - 1) / kMostRows);
    outlier_of_.assign(ranks, kNone);
    if (bin > 1)
        for (size_t i = 0; i < std::min(outliers.size(), kMostOutliers); ++i) {
            outlier_of_[outliers[i]] = static_cast<uint32_t>(map_.rows.size());
            map_.rows.push_back({.first_rank = job.ranks[outliers[i]].rank, .ranks = 1, .outlier = true});
        }
    for (size_t rank = 0; rank < ranks; ++rank) {
        if (rank % bin == 0)
            map_.rows.push_back({.first_rank = job.ranks[rank].rank, .ranks = 0, .outlier = false});
        row_of_.push_back(static_cast<uint32_t>(map_.rows.size() - 1));
        map_.rows.back().ranks++;
    }
    const std::vector<Epoch>& all = epochs.epochs();
    std::vector<uint32_t> by_time;
    for (uint32_t i = 0; i < all.size(); ++i)
        if (all[i].complete)
            by_time.push_back(i);
    std::ranges::sort(by_time, [&](uint32_t left, uint32_t right) {
        return all[left].last.begin != all[right].last.begin ? all[left].last.begin < all[right].last.begin : left < right;
    });
    const size_t columns = std::min(by_time.size(), kMostColumns);
    map_.columns.resize(columns);
    column_of_.assign(all.size(), kNone);
    for (size_t i = 0; i < by_time.size(); ++i) {
        const Epoch& epoch = all[by_time[i]];
        const size_t place = i * columns / by_time.size();
        column_of_[by_time[i]] = static_cast<uint32_t>(place);
        model::MpiHeatMap::Column& column = map_.columns[place];
        column.begin_s = column.epochs ? std::min(column.begin_s, seconds(epoch.first)) : seconds(epoch.first);
        column.end_s = column.epochs ? std::max(column.end_s, seconds(epoch.end)) : seconds(epoch.end);
        column.epochs++;
    }
}

void HeatMapCells::add(size_t row, size_t column, Nanoseconds lateness) {
    Cell& cell = cells_[row * columns_ + column];
    accumulate(cell.sum, lateness);
    cell.latest = std::max(cell.latest, lateness);
    cell.count++;
}

void HeatMapCells::merge(const HeatMapCells& other) {
    for (size_t i = 0; i < cells_.size(); ++i) {
        accumulate(cells_[i].sum, other.cells_[i].sum);
        cells_[i].latest = std::max(cells_[i].latest, other.cells_[i].latest);
        cells_[i].count += other.cells_[i].count;
    }
}

void HeatMapCells::write(model::MpiHeatMap& map) const {
    constexpr float kNobody = std::numeric_limits<float>::quiet_NaN();
    map.mean_s.assign(cells_.size(), kNobody);
    map.latest_s.assign(cells_.size(), kNobody);
    for (size_t i = 0; i < cells_.size(); ++i) {
        if (cells_[i].count == 0)
            continue;
        map.mean_s[i] = static_cast<float>(seconds(cells_[i].sum) / static_cast<double>(cells_[i].count));
        map.latest_s[i] = static_cast<float>(seconds(cells_[i].latest));
    }
}

} // namespace plumb::replay
