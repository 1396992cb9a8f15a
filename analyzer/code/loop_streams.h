// Where the accesses of a loop go from round to round: addresses as sums of what registers held when the round began, and what
// each register moves on in a round.
#pragma once

#include "code/loop_round.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plumb::code {

// Sum of symbols times factors, plus a constant. Symbols: the general registers as they are when a round begins (by DWARF
// number), then values that the loop loads anew in each round from one and the same place.
struct LinearForm {
    static constexpr int kSymbols = 24;
    bool known = true;
    bool loaded = false; // not known, and made of what was loaded from a place that changes
    std::array<int64_t, kSymbols> factors{};
    int64_t constant = 0;

    bool operator==(const LinearForm&) const = default;
    bool same_symbols(const LinearForm& other) const { return known && other.known && factors == other.factors; }
};

struct Stream { // an access of the loop
    enum class Walk : uint8_t {
        still,     // it stays where it is
        strided,   // `stride` bytes a round
        run_time,  // an equal number of bytes each round, which is not a constant of the code
        gathered,  // its place was loaded
        chased,    // its place was loaded from where it was in the round before
        irregular, // none of these
    };
    size_t instruction = 0; // index into ControlFlow::instructions
    bool load = false, store = false;
    bool floating = false; // the instruction is one on floating point data
    uint16_t width = 0;    // bytes
    Walk walk = Walk::irregular;
    int64_t stride = 0;
    LinearForm address;
};

struct LoopStreams {
    std::vector<Stream> streams; // in the order of the round; without those of the stack's own instructions (push, call)
    bool reloads_pointer = false; // each round loads an array's address anew, as if the loop's stores might have changed it
};

LoopStreams streams_of(const ControlFlow& flow, const std::vector<RoundBlock>& round, const Loop& loop);

// Of the bytes that the loop passes by at floating point accesses with constant strides, how many it touches, 0 to 1; of the
// array where it is least. 1 where there is none.
double touched_share(const LoopStreams& streams);

} // namespace plumb::code
