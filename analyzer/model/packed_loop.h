// A loop that computes one floating point number at a time, or with vectors half as wide as this machine's, which the recorder ran
// again here: as it is, and computing several at once, or twice as many.
#pragma once

#include <cstdint>

namespace plumb::model {

struct PackedLoop {
    uint64_t loop_begin = 0, loop_end = 0; // first and last instruction
    uint64_t samples = 0, time_ns = 0;     // of the loop
    uint32_t lanes = 0, vector_bytes = 0;  // elements at once
    bool is_packed = false; // it computes with vectors already; packed_ns is of those of twice the size
    bool made_adjacent = false; // elements that lie apart in the program lie side by side in the packed loop
    double scalar_ns = 0;       // of one round as it is
    double packed_ns = 0, spread_ns = 0; // of as much work, packed; standard error of that
    double unchained_ns = 0;    // packed, each sum divided into two that wait side by side; 0: not measured
    double wide_ns = 0;         // packed in vectors of twice the size; 0: not measured
    double round_ns = 0;        // of one round in the program; 0: not known
    uint64_t footprint_bytes = 0;
};

} // namespace plumb::model
