#include "mpi_matrix.h"

#include "support/error.h"
#include "support/xorshift.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace plumb::tools {

namespace {

std::vector<uint32_t> sizes_of(const std::string& text, const std::string& whole) {
    std::vector<uint32_t> sizes;
    for (const std::string& part : CLI::detail::split(text, 'x')) {
        uint32_t size = 0;
        if (!CLI::detail::lexical_cast(part, size) || size == 0)
            throw Error(fmt::format("\"{}\" is no size, in \"{}\"", part, whole));
        sizes.push_back(size);
    }
    return sizes;
}

Xorshift seeded(uint64_t seed) { return Xorshift(seed * 0x9e3779b97f4a7c15u + 1); }

} // namespace

MpiMatrix::MpiMatrix(const std::string& pattern, int ranks, uint64_t shuffle) : partners_(static_cast<size_t>(ranks)) {
    const size_t colon = pattern.find(':');
    const std::string kind = pattern.substr(0, colon);
    const std::vector<uint32_t> sizes = sizes_of(colon == std::string::npos ? "" : pattern.substr(colon + 1), pattern);
    const auto cells = static_cast<uint32_t>(ranks);
    const uint32_t product = std::accumulate(sizes.begin(), sizes.end(), 1u, std::multiplies<>());
    if (kind != "random" && product != cells)
        throw Error(fmt::format("\"{}\" has {} ranks, the job {}", pattern, product, ranks));
    if (kind == "halo" || kind == "torus") {
        uint32_t step = 1;
        for (const uint32_t size : sizes) {
            for (uint32_t cell = 0; cell < cells; ++cell)
                if (const uint32_t at = cell / step % size; at + 1 < size)
                    join(cell, cell + step);
                else if (kind == "torus" && size > 2)
                    join(cell, cell - at * step);
            step *= size;
        }
    } else if (kind == "transpose" && sizes.size() == 2) {
        for (uint32_t cell = 0; cell < cells; ++cell)
            for (uint32_t other = cell + 1; other < cells; ++other)
                if (cell / sizes[0] == other / sizes[0] || cell % sizes[0] == other % sizes[0])
                    join(cell, other);
    } else if (kind == "random" && sizes.size() == 1 && sizes[0] < cells) {
        Xorshift random = seeded(7);
        for (uint32_t cell = 0; cell < cells; ++cell)
            for (uint32_t i = 0; i < sizes[0]; ++i)
                if (const auto other = static_cast<uint32_t>(random.next() % cells); other != cell)
                    join(cell, other);
    } else {
        throw Error(fmt::format("\"{}\" is none of halo:WxH.., torus:WxH.., transpose:WxH, random:N", pattern));
    }
    cell_of_.resize(cells);
    std::iota(cell_of_.begin(), cell_of_.end(), 0u);
    if (shuffle != 0) {
        Xorshift random = seeded(shuffle);
        for (uint32_t last = cells - 1; last > 0; --last)
            std::swap(cell_of_[last], cell_of_[random.next() % (last + 1)]);
    }
    rank_in_.resize(cells);
    for (uint32_t rank = 0; rank < cells; ++rank)
        rank_in_[cell_of_[rank]] = rank;
}

void MpiMatrix::join(uint32_t cell, uint32_t other) {
    if (std::ranges::find(partners_[cell], other) != partners_[cell].end())
        return;
    partners_[cell].push_back(other);
    partners_[other].push_back(cell);
}

std::vector<int> MpiMatrix::partners(int rank) const {
    std::vector<int> ranks;
    for (const uint32_t cell : partners_[cell_of_[static_cast<size_t>(rank)]])
        ranks.push_back(static_cast<int>(rank_in_[cell]));
    std::ranges::sort(ranks);
    return ranks;
}

} // namespace plumb::tools
