// What threads share by cache lines, by data object: who uses which bytes, and how much of the time at them the other
// threads are to blame for.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"
#include "model/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

// The same bytes, or different ones of the same line.
enum class Sharing { same_bytes, other_bytes };

// What an access to a shared line touches.
struct SharedPlace {
    enum class Kind { unknown, variable, structure, allocation };
    Kind kind = Kind::unknown;
    std::string name;     // "counters", "struct Counter" where its type alone is known, "io.c:12" for an allocation
    std::string expression; // the whole as the source would write it: "counters[3].hits", "p->hits"; empty: not known
    std::string member;   // "[3].hits", empty: not known, or it has none
    std::string type, declared; // of a variable, empty: not known
    uint64_t start = 0, bytes = 0; // of the object, 0: not known
    uint64_t element_bytes = 0;    // of one of its elements, where it is an array; 0: not known
};

// Accesses of one line of source to the same bytes, by one thread.
struct SharedUse {
    uint32_t thread = 0; // index into Process::threads
    SharedPlace place;
    uint64_t address = 0;
    uint32_t width = 0;
    bool writes = false, reads = false, locked = false;
    bool exchanges = false;  // compare and exchange, or exchange: what locks are made of
    std::string called_code; // function of a library in which it happens, empty: in the user's own code
    model::SourceFrame frame; // of the user's own code
    uint64_t samples = 0;
    double shared_ns = 0;  // time at them while other threads were about
    double blamed_ns = 0;  // of it, for the kind of sharing that was asked for
};

// Some lines of one object (or of several, where they lie in the same line).
struct SharedObject {
    size_t process = 0;
    uint32_t line_bytes = 0;
    uint64_t lines = 0;
    SharedPlace place;          // of the use that takes most time
    std::vector<SharedUse> uses; // by blamed time, the most first
    LineShares where;
    double blamed_ns = 0;  // time at the accesses
    double cost_ns = 0;    // of that, what they would not take with a line of their own
    double waiting_cost_ns = 0; // of cost_ns, in loops that try to take a lock: they last as long as it is held
    bool timed = false;    // false: that is not known, and cost_ns is all of blamed_ns
    double own_access_ns = 0, contended_access_ns = 0; // as timed, of the kind of accesses that takes most time; 0: not timed
    double polled_ns = 0;  // time in loops that only wait for another value; in none of the above
    uint64_t samples = 0;  // that stand for blamed_ns, about
    uint64_t handovers = 0; // of this kind of sharing
    unsigned slices = 0;    // 64ths of the time, or longer parts, that had them
    double slice_s = 0;
    // Samples that soon followed another one in the same line, those among them by another thread on another CPU, and how
    // many these would be if the threads came in no order at all.
    uint64_t pairs = 0, handed_over = 0;
    double expected = 0;
    uint64_t written_samples = 0, used_samples = 0; // of all threads; used: without those in waiting loops

    double interleaving() const { return expected > 0 ? static_cast<double>(handed_over) / expected : 0; }
    bool is_lock() const; // most of the time is at instructions that locks are made of
    std::vector<uint32_t> threads() const, writers() const; // that have a part in it, by number
    // Bytes from where one thread's part begins to where the next one's does, at least; 0: they are not apart.
    uint64_t spacing() const;
};

// What is shared in this way often enough, by cost, the most first.
std::vector<SharedObject> shared_objects(model::CallPaths& paths, Sharing sharing);

} // namespace plumb
