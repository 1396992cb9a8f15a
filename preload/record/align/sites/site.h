// The instructions that were caught, one Site each, for the whole process. Sites are found by address without locks and
// never move or vanish; one whose code was changed since is stale, and its address has a new site.
// Lookups are signal-safe and thread-safe.
#pragma once

#include "platform/code/memory_instruction.h"
#include "platform/os/hidden.h"

#include <atomic>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr uint32_t kSitesMax = 16384; // ids are 1 to kSitesMax - 1

enum class SlotState : uint32_t { none, ready, impossible };

struct Site {
    uint64_t address;
    uint32_t id;
    uint32_t flags;                // trace::AlignFlags
    uint16_t width;                // bytes of one access
    uint8_t measured;              // the operand that is reported
    bool decoded;                  // false: not an instruction that the decoder knows; single steps only
    MemoryInstruction instruction;
    uint8_t code[16];              // as decoded; zeros behind it
    std::atomic<bool> stale;       // the code at `address` is another by now
    std::atomic<SlotState> slot_state;
    std::atomic<uint64_t> slot;    // where its slot begins, 0: none
    std::atomic<uint32_t> recorded; // number of the recording (forks begin new ones) that has its AlignSite
    std::atomic<uint32_t> slot_recorded; // the same of the slot's AlignCode
    std::atomic<uint32_t> traps;    // hits of all threads that took a signal, roughly
    std::atomic<bool> rewrite_refused; // it was tried, and will not be again
    std::atomic<uint32_t> rewrite;  // 0: its code is the program's own; else record/align/rewriting/rewrite.h looks after it
};

// Called once before the first hit; false: no memory.
bool allocate_sites();

// The site of the instruction at `address`, whose bytes are read and compared; decoded and added when it is new.
// Null: no room.
Site* site_at(uint64_t address);
Site* site_of_id(uint32_t id); // 0 < id < site_count()
uint32_t site_count();         // one more than the highest id in use

} // namespace plumb::shim
