// Why a loop computes one element at a time where the processor could take several.
#pragma once

#include "code/compiler.h"
#include "code/loop_facts.h"

namespace plumb::code {

enum class ScalarCause {
    none,        // it need not be faster, or why it is as it is is not known
    level,       // the compiler does not look for such loops with these options
    order,       // of a sum or another reduction, which is kept
    aliasing,    // arrays may overlap, and there are too many to check that at run time
    check_fails, // another version of the loop is packed; this one runs, since the arrays were not proven apart
    call,
    math_errno,  // a root that may set errno
    stride,      // elements used are not adjacent
    gather,      // places are loaded
    conversion,  // for which there is no packed instruction
    condition,
    recurrence,  // each round needs the one before
};

// What the loop's code alone does not say.
struct LoopSurroundings {
    bool has_packed_twin = false; // a packed loop of the same function that does the same
    double twin_time = 0;         // spent in it, by the time in this loop
    double rounds = 0;            // each time the loop is entered, about; 0: not known
    bool calls_compute = false;   // what it calls is a mathematical function, or plain code without loops and calls
    bool calls_library = false;   // the former
};

ScalarCause scalar_cause(const LoopFacts& facts, const Compiler& compiler, const LoopSurroundings& around);

// Pairs of arrays, one of which is stored to, that must be apart for rounds to be independent.
unsigned pairs_to_check(const LoopFacts& facts);

// What packing such a loop saves of its time, 0 to 1, with vectors of so many bytes.
struct ScalarGain {
    double likely = 0;  // an estimate: all that is done takes as long for a vector as for an element
    double at_most = 0; // likewise, and in addition as much again is hidden by doing several vectors at once
};
ScalarGain gain_of(ScalarCause cause, const LoopFacts& facts, unsigned vector_bytes);

} // namespace plumb::code
