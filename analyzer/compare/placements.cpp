#include "compare/placements.h"

#include "statistics/rank_correlation.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

PlacedSide side_of(const Placements& placements, bool is_base) {
    PlacedSide side;
    double sum_s = 0, links = 0;
    for (const PlacedRun& run : placements.runs)
        if (run.is_base == is_base) {
            side.least_pieces = side.runs == 0 ? run.pieces : std::min(side.least_pieces, run.pieces);
            side.most_pieces = std::max(side.most_pieces, run.pieces);
            side.runs++;
            sum_s += run.wall_s;
            links += placements.links_of(run);
        }
    const auto count = static_cast<double>(std::max<size_t>(1, side.runs));
    side.mean_s = sum_s / count;
    side.mean_links = links / count;
    if (side.runs > 1) {
        double squares = 0;
        for (const PlacedRun& run : placements.runs)
            if (run.is_base == is_base)
                squares += (run.wall_s - side.mean_s) * (run.wall_s - side.mean_s);
        side.deviation_s = std::sqrt(squares / (count - 1));
    }
    return side;
}

} // namespace

Placements placements_of(std::vector<PlacedRun> runs) {
    Placements placements;
    placements.runs = std::move(runs);
    placements.are_of_bytes =
        std::ranges::all_of(placements.runs, [](const PlacedRun& run) { return run.links_of_bytes.has_value(); });
    placements.base = side_of(placements, true);
    placements.others = side_of(placements, false);
    std::vector<double> times_s, links;
    for (const PlacedRun& run : placements.runs) {
        times_s.push_back(run.wall_s);
        links.push_back(placements.links_of(run));
    }
    placements.correlation = statistics::rank_correlation(times_s, links);
    placements.chance = statistics::chance_of(placements.correlation, static_cast<double>(times_s.size()));
    return placements;
}

} // namespace plumb
