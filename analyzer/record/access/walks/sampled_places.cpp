#include "record/access/walks/sampled_places.h"

#include "support/memory_units.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plumb::record {

namespace {

constexpr size_t kFewestPairs = 16;
constexpr double kFastestSweep = 40; // bytes a nanosecond: what one core moves from memory at most
constexpr double kMostAlike = 0.5, kLeastBackwards = 0.25, kLeastReversed = 0.5; // see Moves

// How one thread comes from where one sample found it to where the next does.
struct Moves {
    // Whoever sweeps, in whatever order of addresses, comes forward by about the same between two samples, seen as on a
    // ring; whoever jumps at random is anywhere after any time. The length of the mean of all moves as arrows on a
    // circle (circular statistics' resultant): 1 for equal moves, near 0 for random ones.
    double evenness = 1;
    double backwards = 0; // of the moves by less than half of the ring, those of the rarer direction: 0 to 0.5
    double reversed = 0;  // of all pairs of moves, those in opposite directions: 2/3 of random ones
    double window = 0;    // bytes: random places of so much memory are as far from one another
    double apart_ns = 0;  // mean time of a move
};

Moves moves_of(const std::vector<SampledPlace>& pairs, double span) {
    const auto distance = [](uint64_t from, uint64_t to) { return static_cast<double>(static_cast<int64_t>(to - from)); };
    double across = 0, around = 0, sum = 0, squares = 0, apart_ns = 0;
    double up = 0, down = 0, triples = 0, reversed = 0;
    for (const SampledPlace& pair : pairs) {
        const double move = distance(pair.before, pair.address), angle = 2 * std::numbers::pi * move / span;
        across += std::cos(angle);
        around += std::sin(angle);
        sum += move;
        squares += move * move;
        apart_ns += static_cast<double>(pair.apart_ns);
        if (std::abs(move) < span / 2)
            (move > 0 ? up : down) += 1;
        if (pair.earlier != 0) {
            triples += 1;
            reversed += (move > 0) != (distance(pair.earlier, pair.before) > 0);
        }
    }
    const double n = static_cast<double>(pairs.size());
    Moves moves;
    moves.evenness = std::hypot(across, around) / n;
    moves.backwards = up + down > 0 ? std::min(up, down) / (up + down) : 0;
    moves.reversed = triples > 0 ? reversed / triples : 0;
    // The difference of two even choices from w has a variance of w * w / 6.
    moves.window = std::sqrt(6 * std::max(0.0, squares / n - sum / n * (sum / n)));
    moves.apart_ns = apart_ns / n;
    return moves;
}

} // namespace

Scatter scatter_of(const std::vector<SampledPlace>& places, bool followed) {
    Scatter scatter;
    if (places.empty())
        return scatter;
    std::vector<uint64_t> pages;
    scatter.lowest = UINT64_MAX;
    for (const SampledPlace& place : places) {
        pages.push_back(place.address / kPage);
        scatter.lowest = std::min(scatter.lowest, place.address);
        scatter.highest = std::max(scatter.highest, place.address);
    }
    std::ranges::sort(pages);
    double alike_pairs = 0; // of samples in the same page
    for (size_t i = 0, run = 0; i < pages.size(); ++i) {
        run = i > 0 && pages[i] == pages[i - 1] ? run + 1 : 0;
        alike_pairs += static_cast<double>(run);
        scatter.pages += run == 0;
    }
    scatter.places = places.size();
    const uint64_t span = scatter.highest - scatter.lowest;
    const double n = static_cast<double>(places.size());
    const double expected = n * (n - 1) / 2 * kPage / static_cast<double>(std::max<uint64_t>(span, 1));
    scatter.footprint = span;
    // More than chance brings into the same pages: some are used far more than others.
    if (alike_pairs > 2 * expected + 4)
        scatter.footprint = std::min(span, static_cast<uint64_t>(n * (n - 1) / 2 / alike_pairs * kPage));
    if (scatter.footprint < kLeastScatteredBytes)
        return scatter;

    std::vector<SampledPlace> pairs;
    for (const SampledPlace& place : places)
        if (place.before >= scatter.lowest && place.before <= scatter.highest)
            pairs.push_back(place);
    if (pairs.size() < kFewestPairs)
        return scatter;
    const Moves moves = moves_of(pairs, static_cast<double>(span));
    // Nobody comes around so much memory between two samples: then random places within a part of it that moves on are no
    // sweep either, if they lie behind as often as before one another.
    const bool too_large_to_pass = static_cast<double>(span) >= kFastestSweep * moves.apart_ns;
    if (!followed && !too_large_to_pass)
        return scatter;
    scatter.footprint = std::min(scatter.footprint, static_cast<uint64_t>(moves.window));
    scatter.scattered = scatter.footprint >= kLeastScatteredBytes &&
                        (moves.evenness <= kMostAlike || (too_large_to_pass && moves.backwards >= kLeastBackwards &&
                                                          moves.reversed >= kLeastReversed));
    return scatter;
}

} // namespace plumb::record
