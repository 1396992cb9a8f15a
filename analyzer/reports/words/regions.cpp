#include "reports/words/regions.h"

#include <algorithm>
#include <map>

namespace plumb {

std::vector<RegionRow> region_table(const model::Run& run) {
    std::map<std::string, RegionRow> by_name;
    for (const model::Process& process : run.processes)
        for (const model::Region& region : process.regions) {
            RegionRow& row = by_name[region.name];
            row.entries += region.entries;
            row.open += region.open;
            row.seconds += static_cast<double>(region.time_ns) * 1e-9;
            row.longest_seconds = std::max(row.longest_seconds, static_cast<double>(region.longest_ns) * 1e-9);
            row.threads += region.threads;
            row.processes++;
        }
    const double wall_s = static_cast<double>(run.wall_ns()) * 1e-9;
    std::vector<RegionRow> rows;
    for (auto& [name, row] : by_name) {
        row.name = name;
        if (wall_s > 0 && row.threads > 0)
            row.fraction = row.seconds / (wall_s * static_cast<double>(row.threads));
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, std::ranges::greater{}, &RegionRow::seconds);
    return rows;
}

} // namespace plumb
