#include "network/job/grid_recovery.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>

namespace plumb::network {

namespace {

constexpr size_t kMostDimensions = 3;
constexpr size_t kMostChecked = 20'000; // pairs, of each of many grids
constexpr double kEnough = 0.97;        // of the pairs that count
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

uint32_t apart(uint32_t one, uint32_t other, uint32_t size) {
    const uint32_t distance = one > other ? one - other : other - one;
    return std::min(distance, size - distance);
}

// In how many dimensions two cells differ; kNone where they are more than one step apart in any.
uint32_t steps_between(const Grid& grid, uint32_t cell, uint32_t other) {
    uint32_t steps = 0;
    for (size_t i = 0; i < grid.sizes.size(); ++i) {
        const uint32_t distance = apart(grid.coordinate(cell, i), grid.coordinate(other, i), grid.sizes[i]);
        if (distance > 1)
            return kNone;
        steps += distance;
    }
    return steps;
}

// All ways to write `ranks` as a product of one to three sizes of 2 or more.
std::vector<std::vector<uint32_t>> sizes_of(uint32_t ranks) {
    std::vector<std::vector<uint32_t>> all{{ranks}};
    for (uint32_t x = 2; x <= ranks / 2; ++x) {
        if (ranks % x != 0)
            continue;
        all.push_back({x, ranks / x});
        for (uint32_t y = 2; y <= ranks / x / 2; ++y)
            if (ranks / x % y == 0)
                all.push_back({x, y, ranks / x / y});
    }
    std::ranges::stable_sort(all, {}, [](const auto& sizes) { return sizes.size(); });
    return all;
}

// Of the pairs, or an even choice of them, the share one step apart. `used`: whether there are any in each dimension.
double share_of_neighbours(const Grid& grid, const Partners& partners, bool& used) {
    const size_t step = 1 + partners.ranks.size() / kMostChecked;
    size_t checked = 0, near = 0, at = 0;
    std::array<bool, kMostDimensions> steps_in{};
    for (uint32_t rank = 0; rank < partners.count(); ++rank)
        for (; at < partners.first[rank + size_t{1}]; at += step) {
            const uint32_t cell = grid.cell_of[rank], other = grid.cell_of[partners.ranks[at]];
            ++checked;
            if (steps_between(grid, cell, other) != 1)
                continue;
            ++near;
            for (size_t i = 0; i < grid.sizes.size(); ++i)
                steps_in[i] = steps_in[i] || grid.coordinate(cell, i) != grid.coordinate(other, i);
        }
    used = true;
    for (size_t i = 0; i < grid.sizes.size(); ++i)
        used = used && steps_in[i];
    return checked > 0 ? static_cast<double>(near) / static_cast<double>(checked) : 0;
}

std::optional<Grid> numbered_grid(const Partners& heavy) {
    Grid grid;
    grid.cell_of.resize(heavy.count());
    std::iota(grid.cell_of.begin(), grid.cell_of.end(), 0u);
    std::optional<Grid> best;
    double best_share = kEnough;
    for (std::vector<uint32_t>& sizes : sizes_of(heavy.count())) {
        grid.sizes = std::move(sizes);
        bool used = false;
        const double share = share_of_neighbours(grid, heavy, used);
        if (used && share > best_share) { // of equal ones the first has the fewest dimensions
            best_share = share;
            best = grid;
        }
    }
    return best;
}

// Directions 2 d and 2 d + 1 are the two ways along dimension d. What lies in which direction is carried from neighbour to neighbour.
class Labelling {
  public:
    explicit Labelling(const Partners& partners) : partners_(partners), directed_(partners.count()), at_(partners.count()) {}

    std::optional<Grid> grid() {
        for (size_t dimensions = std::min<size_t>(kMostDimensions, (most_partners() + 1) / 2); dimensions > 0; --dimensions)
            for (uint32_t start = 0, tried = 0; start < partners_.count() && tried < kMostStarts; ++start)
                if (of(start).size() == 2 * dimensions) {
                    ++tried;
                    if (begin_at(start, dimensions) && spread(start, dimensions))
                        return made(dimensions);
                }
        return std::nullopt;
    }

  private:
    static constexpr uint32_t kMostStarts = 4;
    using Directed = std::array<uint32_t, 2 * kMostDimensions>; // ranks, kNone where there is none

    std::span<const uint32_t> of(uint32_t rank) const {
        return {partners_.ranks.data() + partners_.first[rank], partners_.first[rank + size_t{1}] - partners_.first[rank]};
    }
    size_t most_partners() const {
        size_t most = 0;
        for (uint32_t rank = 0; rank < partners_.count(); ++rank)
            most = std::max(most, of(rank).size());
        return most;
    }

    // Partners of both besides `except`; of them the only one, or kNone.
    uint32_t common(uint32_t one, uint32_t other, uint32_t except, size_t& count) const {
        uint32_t found = kNone;
        count = 0;
        const auto second = of(other);
        for (const uint32_t rank : of(one))
            if (rank != except && std::ranges::binary_search(second, rank)) {
                found = rank;
                ++count;
            }
        return found;
    }

    // Two neighbours of one rank are on opposite sides if that rank alone is next to both.
    bool begin_at(uint32_t start, size_t dimensions) {
        std::ranges::fill(directed_, Directed{kNone, kNone, kNone, kNone, kNone, kNone});
        std::vector<uint32_t> left(of(start).begin(), of(start).end());
        for (size_t d = 0; d < dimensions; ++d) {
            const uint32_t one = left.front();
            uint32_t opposite = kNone;
            for (const uint32_t other : left) {
                size_t count = 0;
                if (other == one || (common(one, other, start, count), count > 0))
                    continue;
                if (opposite != kNone)
                    return false;
                opposite = other;
            }
            if (opposite == kNone)
                return false;
            directed_[start][2 * d] = one;
            directed_[start][2 * d + 1] = opposite;
            std::erase(left, one);
            std::erase(left, opposite);
        }
        return true;
    }

    bool spread(uint32_t start, size_t dimensions) {
        std::vector<bool> known(partners_.count(), false);
        std::vector<uint32_t> order{start};
        known[start] = true;
        at_[start] = {};
        for (size_t i = 0; i < order.size(); ++i)
            for (size_t d = 0; d < 2 * dimensions; ++d) {
                const uint32_t next = directed_[order[i]][d];
                if (next == kNone || known[next])
                    continue;
                if (!carry(order[i], next, d, dimensions))
                    return false;
                known[next] = true;
                at_[next] = at_[order[i]];
                at_[next][d / 2] += d % 2 == 0 ? 1 : -1;
                order.push_back(next);
            }
        return order.size() == partners_.count();
    }

    // `rank` has `next` in direction d, and knows what it has in the others.
    bool carry(uint32_t rank, uint32_t next, size_t d, size_t dimensions) {
        Directed& directed = directed_[next];
        directed[d ^ 1] = rank;
        std::vector<uint32_t> left(of(next).begin(), of(next).end());
        std::erase(left, rank);
        for (size_t e = 0; e < 2 * dimensions; ++e) {
            if (e / 2 == d / 2 || directed_[rank][e] == kNone)
                continue;
            size_t count = 0;
            const uint32_t beside = common(next, directed_[rank][e], rank, count);
            if (count > 1)
                return false;
            directed[e] = beside;
            std::erase(left, beside);
        }
        if (left.size() > 1)
            return false;
        directed[d] = left.empty() ? kNone : left.front();
        return true;
    }

    std::optional<Grid> made(size_t dimensions) const {
        Grid grid;
        grid.by_rank = false;
        std::array<int32_t, kMostDimensions> least{};
        uint64_t cells = 1;
        for (size_t d = 0; d < dimensions; ++d) {
            const auto along = [&](const auto& place) { return place[d]; };
            const auto [low, high] = std::ranges::minmax(at_, {}, along);
            least[d] = low[d];
            grid.sizes.push_back(static_cast<uint32_t>(high[d] - low[d] + 1));
            cells *= grid.sizes.back();
        }
        if (cells != partners_.count())
            return std::nullopt;
        std::vector<bool> taken(partners_.count(), false);
        for (const auto& place : at_) {
            uint32_t cell = 0;
            for (size_t d = dimensions; d-- > 0;)
                cell = cell * grid.sizes[d] + static_cast<uint32_t>(place[d] - least[d]);
            if (taken[cell])
                return std::nullopt;
            taken[cell] = true;
            grid.cell_of.push_back(cell);
        }
        return grid;
    }

    const Partners& partners_;
    std::vector<Directed> directed_;                            // by rank
    std::vector<std::array<int32_t, kMostDimensions>> at_;      // from the start
};

} // namespace

uint32_t Grid::coordinate(uint32_t cell, size_t dimension) const {
    for (size_t i = 0; i < dimension; ++i)
        cell /= sizes[i];
    return cell % sizes[dimension];
}

std::optional<Grid> grid_of(const Partners& heavy) {
    if (heavy.count() < 4)
        return std::nullopt;
    if (auto grid = numbered_grid(heavy))
        return grid;
    return Labelling(heavy).grid();
}

double share_on_grid(const Grid& grid, const Partners& partners) {
    double near = 0, all = 0;
    for (uint32_t rank = 0; rank < partners.count(); ++rank)
        for (size_t at = partners.first[rank]; at < partners.first[rank + size_t{1}]; ++at) {
            const auto bytes = static_cast<double>(partners.bytes[at]);
            all += bytes;
            if (steps_between(grid, grid.cell_of[rank], grid.cell_of[partners.ranks[at]]) != kNone)
                near += bytes;
        }
    return all > 0 ? near / all : 0;
}

} // namespace plumb::network
