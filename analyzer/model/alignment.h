// Unaligned accesses of one process, as the alignment trap and the address sampling saw them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

inline constexpr uint32_t kLineBytes = 64, kPageBytes = 4096;

// What an instruction does to memory.
struct AccessKind {
    uint32_t width = 0; // bytes of one access
    bool load = false, store = false;
    bool locked = false; // LOCK prefix, or xchg with memory
    bool string = false; // rep movs and similar: one hit is one execution, however many elements
    bool stack = false;  // push, pop, call, ret: the stack pointer itself was unaligned
    bool packed = false; // a vector access
};

// One access whose address was kept, a few for each site and thread.
struct UnalignedAddress {
    enum class Block { unknown, heap, stack, mapping }; // statics are unknown here: the modules know them
    uint32_t thread = 0; // index into Process::threads
    uint64_t address = 0;
    uint64_t time_ns = 0;
    Block block = Block::unknown;
    uint64_t block_start = 0, block_bytes = 0; // 0: not known
    uint32_t block_path = 0;                   // index into Process::paths: who allocated it; 0: not known
    uint64_t base_value = 0;                   // of the base register of the operand
    uint64_t stack_pointer = 0;
    uint64_t frame_address = 0; // canonical frame address of the function, 0: not known
};

struct UnalignedThread {
    uint32_t thread = 0; // index into Process::threads
    uint64_t hits = 0, page_crossings = 0;
};

// One instruction that was caught, all threads together.
struct UnalignedSite {
    uint64_t address = 0; // of the instruction
    AccessKind kind;
    std::vector<uint8_t> code; // the instruction's bytes
    uint32_t path = 0;         // index into Process::paths: who called its function at the first hit; 0: not known
    bool exact = false;        // every hit was counted; false: a lower bound
    uint64_t first_ns = 0, last_ns = 0; // last_ns: of the last hit that went through the trap
    uint64_t hits = 0, page_crossings = 0;
    uint64_t lowest_address = 0, highest_address = 0;
    std::array<uint64_t, kLineBytes> residues = {}; // hits by address % 64
    std::vector<UnalignedThread> threads;
    std::vector<UnalignedAddress> addresses; // by time

    uint64_t line_crossings() const {
        uint64_t crossings = 0;
        for (uint32_t residue = 0; residue < kLineBytes; ++residue)
            if (residue + kind.width > kLineBytes)
                crossings += residues[residue];
        return crossings;
    }
};

// Code of the shim that ran in place of an instruction of the program.
struct StandInCode {
    uint64_t start = 0, end = 0, address = 0;
};

struct Alignment {
    enum class Mode { off, find, exact };
    Mode mode = Mode::off;
    std::vector<UnalignedSite> sites;
    uint64_t hits = 0;          // counted
    uint64_t excluded_hits = 0; // in the C library, the loader and excluded modules, or of packed accesses
    uint64_t lost_hits = 0;     // seen, but no room to count them
    uint64_t windows = 0, armed_ns = 0; // find mode
    uint64_t stepped = 0, slots = 0, rewritten = 0; // how the hits were got over
    uint64_t trap_ns = 0;       // estimated time in traps
    std::vector<StandInCode> stand_ins; // by start
    uint64_t stand_in_ns = 0;   // sampled time in them: counting, and the instructions themselves
};

// Accesses of one instruction whose address was recovered from the registers of a time sample: weighted by time.
struct SampledAccess {
    uint64_t address = 0; // of the instruction
    AccessKind kind;
    uint64_t samples = 0, time_ns = 0;
    uint64_t unaligned = 0, line_crossings = 0, page_crossings = 0; // of the samples
    uint64_t last_address = 0;
};

// An access of a loop in which some accesses cross lines; the loop was run again on this machine, with the addresses that
// were sampled and with aligned ones. All accesses of one loop follow one another and have the same figures of the loop.
struct ReplayedAccess {
    uint64_t address = 0; // of the instruction
    AccessKind kind;
    uint32_t loop = 0;    // number
    bool steady = false;  // all samples found it equally far from its alignment
    uint64_t loop_begin = 0, loop_end = 0; // first and last instruction
    uint64_t samples = 0, time_ns = 0;     // of the loop
    int64_t round = 0;    // bytes that the access moves in one round of the loop
    double line_share = 0, page_share = 0; // of its accesses cross a line, a page
    uint64_t last_address = 0;
    double seen_ns = 0, aligned_ns = 0, spread_ns = 0; // of one round as replayed; spread_ns: standard error of aligned_ns
    double round_ns = 0;         // of one round in the program, 0: not known
    uint64_t rounds_at_once = 0; // 0: not known
    uint64_t footprint_bytes = 0;
};

// Nanoseconds of one access in a loop of independent ones on this machine; 0: not measured.
struct AccessPenalties {
    struct Access {
        double aligned_ns = 0, unaligned_ns = 0, line_ns = 0, page_ns = 0;
        double sweep_line_ns = 0; // what a crossing adds where one access of eight crosses a line
    };
    Access load, store;
    double locked_ns = 0, split_lock_ns = 0;
    std::string split_lock_setting; // what the kernel does about split locks, in its own words
};

struct EventCount {
    std::string name; // "alignment-faults", "emulation-faults", or a PMU event's own name
    uint32_t pid = 0;
    uint64_t count = 0;
};

} // namespace plumb::model
