#include "code/scalar_cause.h"

#include <algorithm>
#include <vector>

namespace plumb::code {

namespace {

using Kind = Operation::Kind;

constexpr double kLeastScalar = 0.3;     // of the floating point operations: with fewer the loop counts as packed
constexpr double kLeastArithmetic = 0.08; // of the instructions: in others there is little to pack
constexpr double kRemainder = 0.1;       // time in the packed version by that in the scalar one: it is entered
constexpr double kFewVectors = 4;        // rounds of so many vectors are over before packed code pays
constexpr double kFarApart = 0.25;       // of the bytes passed by are touched: a walk along the wrong direction
constexpr double kPlain = 0.99;
// Pairs of arrays that compilers check at run time, by default (gcc: vect-max-version-for-alias-checks, LLVM:
// runtime-memory-check-threshold).
constexpr unsigned kMostPairsGcc = 10, kMostPairsClang = 8;

bool computes(const LoopFacts& facts) {
    unsigned instructions = 0;
    for (const Kind kind : {Kind::add, Kind::multiply, Kind::fused, Kind::divide, Kind::square_root, Kind::extreme})
        instructions += facts.count(kind);
    return instructions >= kLeastArithmetic * static_cast<double>(facts.instructions) &&
           2 * facts.x87_operations < std::max(1u, facts.operations()) && facts.operations() > 0;
}

// It takes numbers from arrays, or puts them there, around a call.
bool feeds_call(const LoopFacts& facts) {
    return std::ranges::any_of(facts.accesses.streams, [](const Stream& stream) {
        return stream.floating && stream.walk == Stream::Walk::strided;
    });
}

bool carries(const LoopFacts& facts, CarriedValue::Kind kind) {
    return std::ranges::any_of(facts.carried, [kind](const CarriedValue& value) { return value.kind == kind; });
}

bool carries_reduction(const LoopFacts& facts) {
    return std::ranges::any_of(facts.carried, [](const CarriedValue& value) {
        return value.scalar && value.kind != CarriedValue::Kind::recurrence;
    });
}

bool walks(const LoopFacts& facts, Stream::Walk walk) {
    return std::ranges::any_of(facts.accesses.streams, [walk](const Stream& stream) { return stream.floating && stream.walk == walk; });
}

// Several ways out: a search, or a test of each element.
bool leaves_early(const LoopFacts& facts) { return facts.exits > 1; }

ScalarCause cause_of_call(const LoopFacts& facts, const LoopSurroundings& around) {
    const bool roots = std::ranges::all_of(facts.calls, [](const LoopFacts::Call& call) { return call.behind_root && !call.always; });
    if (roots)
        return ScalarCause::math_errno;
    return around.calls_compute ? ScalarCause::call : ScalarCause::none;
}

} // namespace

unsigned pairs_to_check(const LoopFacts& facts) {
    std::vector<const Stream*> arrays; // one access of each
    std::vector<bool> stored;
    for (const Stream& stream : facts.accesses.streams) {
        if (stream.walk != Stream::Walk::strided)
            continue;
        const auto known = std::ranges::find_if(arrays, [&](const Stream* other) { return stream.address.same_symbols(other->address); });
        if (known == arrays.end()) {
            arrays.push_back(&stream);
            stored.push_back(stream.store);
        } else if (stream.store) {
            stored[static_cast<size_t>(known - arrays.begin())] = true;
        }
    }
    unsigned pairs = 0;
    for (size_t i = 0; i < arrays.size(); ++i)
        for (size_t j = i + 1; j < arrays.size(); ++j)
            pairs += stored[i] || stored[j];
    return pairs;
}

ScalarCause scalar_cause(const LoopFacts& facts, const Compiler& compiler, const LoopSurroundings& around) {
    const double lanes = 16.0 / facts.element_bytes();
    if (compiler.is_other) // what it packs, and how it would be asked to, is not known
        return ScalarCause::none;
    if (around.rounds > 0 && around.rounds < kFewVectors * lanes)
        return ScalarCause::none;
    if (walks(facts, Stream::Walk::chased) || facts.gathers > 0)
        return ScalarCause::none;
    if (!facts.calls.empty())
        return computes(facts) || feeds_call(facts) ? cause_of_call(facts, around) : ScalarCause::none;
    if (!computes(facts) || facts.scalar_share() < kLeastScalar)
        return ScalarCause::none;
    // A version for elements that are adjacent does not help those that are not. Without stores nothing has to be checked:
    // then the loop is entered for a few rounds.
    if (around.has_packed_twin && around.twin_time < kRemainder && walks(facts, Stream::Walk::run_time))
        return ScalarCause::stride;
    if (around.has_packed_twin)
        return around.twin_time < kRemainder && facts.stores > 0 ? ScalarCause::check_fails : ScalarCause::none;
    if (compiler.level == 0)
        return ScalarCause::level;
    if (carries(facts, CarriedValue::Kind::recurrence))
        return ScalarCause::recurrence;
    const double touched = touched_share(facts.accesses);
    if (walks(facts, Stream::Walk::run_time) || touched < kFarApart)
        return ScalarCause::stride;
    if (facts.count(Kind::square_root) > 0 && facts.count(Kind::compare) > 0 && compiler.sets_errno && leaves_early(facts))
        return ScalarCause::math_errno; // the call stands elsewhere, with what seldom runs
    if (leaves_early(facts))
        return ScalarCause::none;
    if (carries_reduction(facts) && !compiler.reorders)
        return ScalarCause::order;
    if (facts.wide_conversions > 0 && compiler.vector_bytes < 64)
        return ScalarCause::conversion;
    if (walks(facts, Stream::Walk::gathered))
        return ScalarCause::gather;
    if (facts.conditional_blocks > 0)
        return ScalarCause::condition;
    if (touched < kPlain)
        return ScalarCause::stride;
    const unsigned most = compiler.kind == Compiler::Kind::clang ? kMostPairsClang : kMostPairsGcc;
    if (pairs_to_check(facts) > most || facts.accesses.reloads_pointer)
        return ScalarCause::aliasing;
    if (compiler.has_options && !compiler.vectorizes_loops)
        return ScalarCause::level;
    return ScalarCause::none;
}

ScalarGain gain_of(ScalarCause cause, const LoopFacts& facts, unsigned vector_bytes) {
    constexpr double kSums = 4, kHidden = 2; // what compilers do at once: sums, and vectors where nothing is carried
    const double lanes = static_cast<double>(vector_bytes) / facts.element_bytes();
    const bool divides = facts.count(Kind::divide) + facts.count(Kind::square_root) > 0;
    const double expected = divides ? std::min(lanes, 16.0 / facts.element_bytes()) : lanes; // a divider is no wider
    const double hidden = carries_reduction(facts) ? kSums : kHidden;
    ScalarGain gain{.likely = 1 - 1 / expected, .at_most = 1 - 1 / (lanes * hidden)};
    switch (cause) {
    case ScalarCause::none:
    case ScalarCause::recurrence:
        return {};
    case ScalarCause::gather: // each element is loaded by itself all the same
        gain.likely = 0;
        break;
    case ScalarCause::condition: // both ways are computed, and no branch is mispredicted
        gain.likely /= 2;
        gain.at_most = 1;
        break;
    case ScalarCause::call: // how long it takes without the call is not known
        gain.at_most = 1;
        break;
    case ScalarCause::stride: { // other data are fetched, too
        const double touched = touched_share(facts.accesses);
        gain.at_most = walks(facts, Stream::Walk::run_time) ? 1 : 1 - touched / (lanes * hidden);
        break;
    }
    case ScalarCause::level:
        if (facts.accesses.reloads_pointer)
            gain.at_most = 1;
        break;
    case ScalarCause::order:
    case ScalarCause::aliasing:
    case ScalarCause::check_fails:
    case ScalarCause::math_errno:
    case ScalarCause::conversion:
        break;
    }
    return gain;
}

} // namespace plumb::code
