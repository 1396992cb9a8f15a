// When ranks arrived at collectives, as a picture of bounded size: model::MpiHeatMap under construction.
#pragma once

#include "model/mpi_job.h"
#include "replay/collectives/epochs.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

// Which rank and which epoch goes where.
class HeatMapShape {
  public:
    static constexpr size_t kMostRows = 512, kMostColumns = 512, kMostOutliers = 16;

    // `outliers`: rows of the job, heaviest first; they are shown alone only where ranks share a row.
    HeatMapShape(const Job& job, const EpochTable& epochs, const std::vector<uint32_t>& outliers);

    size_t rows() const { return map_.rows.size(); }
    size_t columns() const { return map_.columns.size(); }
    uint32_t row_of(uint32_t rank) const { return row_of_[rank]; }
    uint32_t outlier_of(uint32_t rank) const { return outlier_of_[rank]; } // kNone: it has no row of its own
    uint32_t column_of(const Epoch& epoch) const { return column_of_[static_cast<size_t>(&epoch - first_)]; }
    const model::MpiHeatMap& empty_map() const { return map_; } // rows and columns, no cells
    static constexpr uint32_t kNone = UINT32_MAX;

  private:
    model::MpiHeatMap map_;
    const Epoch* first_;
    std::vector<uint32_t> row_of_, outlier_of_; // by row of the job
    std::vector<uint32_t> column_of_;           // by epoch
};

class HeatMapCells {
  public:
    explicit HeatMapCells(const HeatMapShape& shape) : columns_(shape.columns()), cells_(shape.rows() * columns_) {}

    void add(size_t row, size_t column, Nanoseconds lateness);
    void merge(const HeatMapCells& other);
    template <class Carrier> void carry(Carrier& carrier) { carrier(columns_, cells_); } // see team/packing.h
    size_t size() const { return cells_.size(); }
    void write(model::MpiHeatMap& map) const;

  private:
    struct Cell {
        Nanoseconds sum = 0, latest = INT64_MIN;
        uint64_t count = 0;
    };
    size_t columns_;
    std::vector<Cell> cells_;
};

} // namespace plumb::replay
