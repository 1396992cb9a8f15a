// Rewriting of hot sites: a hit then costs two changes of the alignment flag instead of a signal.
//
// The instruction is replaced by a jump to a trampoline (trampoline.h). Where it is shorter than the five bytes of a
// jump, the jump's last bytes are the unchanged first bytes of what follows, and the trampoline lies where they point;
// so no other instruction changes, and jumps to the next one still find it. What is not known to be the same elsewhere
// is refused, and stays trapped. The protocol of changing code under execution is platform/code/code_patch.h.
//
// Who calls what, in exact mode:
//  - prepare_rewriting() once, when the collector starts;
//  - rewrite_site() in the trap handler, with the thread at the site, when that has been hit often;
//  - first of all in the handlers of SIGBUS and SIGTRAP, and in make_context_natural(): leave_rewritten_code();
//  - to get over a hit of a rewritten site: continue at step_over_rewritten() with the alignment flag clear.
#pragma once

#include "platform/code/memory_instruction.h"
#include "record/align/rewriting/trampoline.h"

#include <stdint.h>

namespace plumb::shim {

enum class RewriteResult : uint8_t {
    done,
    busy,         // another thread is rewriting: ask again at a later hit
    instruction,  // not known to be the same at another address, or a width that does not trap
    code,         // not in a private read-only mapping of a file: generated, writable or shared code
    neighbour,    // its bytes, or those that follow, belong to another rewritten site
    reach,        // no free address that a jump from there can reach
    kernel,       // memory protection or processor synchronization refused
    full,         // kMostRewritten are rewritten
    count
};

// What one of them means, as part of a sentence: "12 sites are ...".
const char* describe(RewriteResult result);

struct RewrittenSite {
    uint32_t site;                   // AlignSite::id
    uint64_t address;                // of the instruction
    uint64_t code_start, code_end;   // of its trampoline
    uint64_t stub_start, stub_end;   // of a jump on the way there; 0: none
};

inline constexpr uint32_t kMostRewritten = 4096;

// `counts` is the thread-local variable of the calling thread that points to its table of counters by site id
// (thread_counts.h), at the same distance from the thread pointer in all threads. Where the table or the entry is null,
// a hit traps as before. False: this system allows no rewriting. Signal-safe.
bool prepare_rewriting(trace::AlignCount*** counts);

// After this (seccomp confinement) nothing is rewritten any more; what is, works on.
void stop_rewriting();

// The same, and all sites are restored, if no other thread is rewriting at this moment.
void take_back_rewriting();

// Rewrites the instruction at `address`, whose bytes are `code` and which was decoded as `decoded`; `site` must be
// smaller than the size of each thread's table. `counts`: its accesses are counted. Several threads may call it.
// Signal-safe; takes some 100 us.
RewriteResult rewrite_site(uint64_t address, const uint8_t* code, const MemoryInstruction& decoded, uint32_t site,
                           RewrittenSite* rewritten, bool counts = true);

// The way back: the instruction stands at its place again. False: it is not rewritten, another thread is at work, or
// a later rewriting depends on its bytes (take those back first).
bool restore_site(uint64_t address);

// Sites whose code is gone (dlclose) or was written by others may be rewritten anew. After modules came or went.
void forget_lost_sites();

// In a forked child, before its other work: finishes what a thread of the parent had half done.
void rewriting_after_fork();

// If the ucontext_t of the calling thread stands in a trampoline, moves it to the program's instruction (see
// leave_trampoline) and returns true. Signal-safe, lock-free.
bool leave_rewritten_code(void* context);

// For SIGTRAP: the breakpoint of a site that is being rewritten. The context is sent on to the trampoline. False: not
// one of these.
bool pass_patch_breakpoint(void* context);

// Whether what stands at `address`, which must be mapped, is the work of this file on the instruction `code`, finished or
// half done. Signal-safe, lock-free.
bool is_rewriting_of(uint64_t address, const uint8_t* code);

// What rewrite_site() said of the site; false: it is not rewritten. Signal-safe, lock-free.
bool find_rewritten(uint64_t address, RewrittenSite* rewritten);

// Where a thread whose hit was handled executes the instruction, with a clear alignment flag on entry and a set one
// behind it; 0: the site is not rewritten.
uint64_t step_over_rewritten(uint64_t address);

} // namespace plumb::shim
