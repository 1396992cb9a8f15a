#include "network/job/job_shape.h"

#include "network/job/grid_recovery.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb::network {

namespace {

constexpr double kNearlyAll = 0.9; // of the ranks, or of the bytes
constexpr uint32_t kMostRanksOfGroups = 4096; // of the searches below, whose time grows with the square of a group

// Parts of the ranks between which nothing is sent, by rank: number of its part.
std::vector<uint32_t> parts_of(const Partners& partners, uint32_t& count) {
    constexpr uint32_t kNoPart = UINT32_MAX;
    std::vector<uint32_t> part(partners.count(), kNoPart), reached;
    count = 0;
    for (uint32_t first = 0; first < part.size(); ++first) {
        if (part[first] != kNoPart)
            continue;
        part[first] = count;
        reached.assign(1, first);
        for (size_t i = 0; i < reached.size(); ++i)
            for (size_t at = partners.first[reached[i]]; at < partners.first[reached[i] + size_t{1}]; ++at)
                if (const uint32_t next = partners.ranks[at]; part[next] == kNoPart) {
                    part[next] = count;
                    reached.push_back(next);
                }
        ++count;
    }
    return part;
}

size_t degree(const Partners& partners, uint32_t rank) { return partners.first[rank + size_t{1}] - partners.first[rank]; }

bool are_partners(const Partners& partners, uint32_t rank, uint32_t other) {
    const auto begin = partners.ranks.begin() + static_cast<std::ptrdiff_t>(partners.first[rank]),
               end = partners.ranks.begin() + static_cast<std::ptrdiff_t>(partners.first[rank + size_t{1}]);
    return std::binary_search(begin, end, other);
}

// All of a part send to one another, and all parts are of one size.
std::optional<JobShape> all_with_all(const Partners& partners) {
    uint32_t parts = 0;
    const std::vector<uint32_t> part = parts_of(partners, parts);
    std::vector<uint32_t> sizes(parts, 0);
    for (const uint32_t each : part)
        ++sizes[each];
    const uint32_t size = sizes.front();
    size_t missing = 0;
    for (uint32_t rank = 0; rank < partners.count(); ++rank)
        missing += sizes[part[rank]] - 1 - degree(partners, rank);
    const auto possible = static_cast<double>(partners.count()) * (size - 1);
    if (size < 4 || std::ranges::any_of(sizes, [&](uint32_t each) { return each != size; }) ||
        static_cast<double>(missing) > (1 - kNearlyAll) * possible)
        return std::nullopt;
    JobShape shape;
    shape.kind = parts == 1 ? JobShape::Kind::all_to_all : JobShape::Kind::groups;
    shape.sizes = {size};
    return shape;
}

// The partners of each rank are two sets, a row and a column: within each all send to one another, and none to the other.
std::optional<JobShape> rows_and_columns(const Partners& partners) {
    if (partners.count() > kMostRanksOfGroups)
        return std::nullopt;
    std::vector<uint32_t> sizes;
    for (uint32_t rank = 0; rank < partners.count(); ++rank) {
        const size_t begin = partners.first[rank], end = partners.first[rank + size_t{1}];
        if (end - begin < 6)
            return std::nullopt;
        std::vector<uint32_t> with, without;
        for (size_t at = begin; at < end; ++at) {
            const uint32_t other = partners.ranks[at];
            (at == begin || are_partners(partners, partners.ranks[begin], other) ? with : without).push_back(other);
        }
        for (const auto* set : {&with, &without})
            for (const uint32_t one : *set)
                for (const uint32_t other : *set)
                    if (one < other && !are_partners(partners, one, other))
                        return std::nullopt;
        if (with.size() < 3 || without.size() < 3 || (with.size() + 1) * (without.size() + 1) != partners.count())
            return std::nullopt;
        std::vector<uint32_t> own{static_cast<uint32_t>(with.size() + 1), static_cast<uint32_t>(without.size() + 1)};
        std::ranges::sort(own);
        if (rank > 0 && own != sizes)
            return std::nullopt;
        sizes = own;
    }
    JobShape shape;
    shape.kind = JobShape::Kind::rows_and_columns;
    shape.sizes = sizes;
    return shape;
}

// One rank sends to or receives from nearly all others, and nearly all of them from it alone.
std::optional<JobShape> master_and_workers(const Partners& partners) {
    uint32_t master = 0, alone = 0;
    for (uint32_t rank = 0; rank < partners.count(); ++rank) {
        if (degree(partners, rank) > degree(partners, master))
            master = rank;
        alone += degree(partners, rank) == 1;
    }
    const double others = partners.count() - 1.0;
    if (partners.count() < 4 || static_cast<double>(degree(partners, master)) < kNearlyAll * others || alone < kNearlyAll * others)
        return std::nullopt;
    JobShape shape;
    shape.kind = JobShape::Kind::master;
    shape.master = master;
    return shape;
}

// Without the pairs that send little beside the heaviest of both.
Partners heavy_ones(const Partners& all) {
    constexpr double kLittle = 0.25;
    std::vector<uint64_t> most(all.count(), 0);
    for (uint32_t rank = 0; rank < all.count(); ++rank)
        for (size_t at = all.first[rank]; at < all.first[rank + size_t{1}]; ++at)
            most[rank] = std::max(most[rank], all.bytes[at]);
    Partners heavy;
    heavy.first.assign(1, 0);
    for (uint32_t rank = 0; rank < all.count(); ++rank) {
        for (size_t at = all.first[rank]; at < all.first[rank + size_t{1}]; ++at) {
            const auto limit = static_cast<double>(std::max(most[rank], most[all.ranks[at]])) * kLittle;
            if (all.bytes[at] > 0 && static_cast<double>(all.bytes[at]) >= limit) {
                heavy.ranks.push_back(all.ranks[at]);
                heavy.bytes.push_back(all.bytes[at]);
            }
        }
        heavy.first.push_back(heavy.ranks.size());
    }
    return heavy;
}

double sum_of(const Partners& partners) {
    double sum = 0;
    for (const uint64_t bytes : partners.bytes)
        sum += static_cast<double>(bytes);
    return sum;
}

} // namespace

JobShape job_shape(const Traffic& traffic) {
    const Partners all(traffic), heavy = heavy_ones(all);
    JobShape shape;
    const double bytes = sum_of(all);
    if (bytes <= 0) {
        shape.kind = JobShape::Kind::silent;
        return shape;
    }
    if (auto grid = grid_of(heavy)) {
        const double share = share_on_grid(*grid, all);
        if (share >= kNearlyAll) {
            shape.kind = JobShape::Kind::grid;
            shape.grid = std::move(grid);
            shape.share = share;
            return shape;
        }
    }
    for (const auto find : {all_with_all, rows_and_columns, master_and_workers})
        if (auto found = find(heavy)) {
            found->share = sum_of(heavy) / bytes;
            if (found->share >= kNearlyAll)
                return *found;
        }
    return shape;
}

std::string shape_words(const JobShape& shape, uint32_t ranks) {
    switch (shape.kind) {
    case JobShape::Kind::silent:
        return "no messages between ranks";
    case JobShape::Kind::grid:
        return shape.grid->sizes.size() == 1
                   ? fmt::format("each of {} with its two neighbours in a row", counted(ranks, "rank", "ranks"))
                   : fmt::format("halo exchange on a grid of {}{}", fmt::join(shape.grid->sizes, " x "),
                                 shape.grid->by_rank ? "" : ", on which neighbours have other numbers than their ranks suggest");
    case JobShape::Kind::all_to_all:
        return "all ranks with all others";
    case JobShape::Kind::groups:
        return fmt::format("all with all in groups of {} ranks", shape.sizes[0]);
    case JobShape::Kind::rows_and_columns:
        return fmt::format("all with all in the rows and the columns of a grid of {} x {}, as in a transpose", shape.sizes[0], shape.sizes[1]);
    case JobShape::Kind::master:
        return fmt::format("all others with rank {}", shape.master);
    case JobShape::Kind::other:
        break;
    }
    return "irregular";
}

} // namespace plumb::network
