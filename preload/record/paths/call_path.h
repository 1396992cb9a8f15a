// The call path of the calling thread, found fast by remembering the last one.
//
// Each thread keeps the frames of its last walk. A new walk steps by unwind rules only until it meets a remembered
// frame (same stack address, same return address); then every word that the outer part of the old walk had read
// (return addresses, and saved frame pointers where a frame is addressed through them) is compared with what is
// stored there now. All equal: a new walk would read the same words and arrive at the same frames, so the old result
// stands. Not equal: stepping goes on. The result is always that of a full walk; usually it costs one load a frame.
//
// Recursion is folded: a frame whose return address already stands on its own path continues from there, so that a
// path never holds an address twice and a recursive program has finitely many paths. Each edge that is recorded was
// really taken; the depth of the recursion is not kept.
//
// A path has a key, a hash that is kept up while walking; its node in the process's tree is looked up (and written to
// the trace) only on request, which is the first time a thread meets the path.
#pragma once

#include "platform/unwind/unwind_step.h"
#include "platform/unwind/unwind_table.h"
#include "record/process/trace_writer.h"

namespace plumb::shim {

// The frame that called the function in which this is written (which must have a frame pointer).
#define PLUMB_CALLER_FRAME()                                                                                 \
    (::plumb::shim::caller_frame(reinterpret_cast<uint64_t>(__builtin_return_address(0)), PLUMB_CALLER_SP(),  \
                                 *static_cast<const uint64_t*>(__builtin_frame_address(0)),                   \
                                 reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 8))

struct CallPath {
    uint64_t key;   // equal for equal paths of one thread; at least 2^63, or the node if that was looked up already
    void** mark;    // a word that stays with the path as long as the thread remembers it; null at first
};

class CallPathCache {
  public:
    // Belongs to one thread. Zeroed memory is a valid empty cache. Signal-safe once the stack's bounds are known.
    // The usual case, that the last event came from the same call, stands here: it is what every event costs.
    CallPath find(const Guard& guard, const Frame& caller) {
        if (__builtin_expect(is_same(caller), 1))
            return {key_[count_ - 1], &mark_[count_ - 1]};
        return find_anew(guard, caller);
    }

    // Whether the last event came from there, and what stays with its path. Changes nothing.
    __attribute__((always_inline)) bool is_same(const Frame& caller) const {
        if (__builtin_expect(count_ == 0 || unwind_generation() != generation_ || forget_next_, 0))
            return false;
        const uint32_t top = count_ - 1;
        return pc_[top] == caller.pc && sp_[top] == caller.sp && (!needs_bp_[top] || bp_[top] == caller.bp) &&
               has_same_callers(top);
    }
    void* mark_of_same() const { return mark_[count_ - 1]; }

    // The node of the path that find() returned last. 0: nothing is known.
    trace::NodeId node(const Guard&);

    // Another thread takes the cache over: forgets frames and marks. Bounds that are not known are found by the first
    // find(), which then may allocate.
    void begin_thread(const StackBounds& stack) {
        count_ = 0;
        bounds_ = stack;
    }

    // What is remembered may be half changed. Signal-safe.
    void forget() { count_ = 0; }

    static constexpr uint32_t kMaxWalk = 128;   // new frames a walk; what lies further out is cut
    static constexpr uint32_t kMaxFrames = 256; // remembered
    static constexpr uint32_t kMaxChecks = 128;

  private:
    struct NewFrame {
        uint64_t pc, sp, bp;
        StepFacts facts;
        [[no_unique_address]] ReturnPlace place;
    };
    struct Check {
        uint64_t address, value;
    };

    CallPath find_anew(const Guard&, const Frame& caller); // not the same as last time
    uint32_t first_change(uint32_t frame) const;

    static uint64_t word_at(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }
    // Not 0: what the frame returns to is another place than when it was walked.
    uint64_t return_change(uint32_t frame) const {
        return code_address(word_at(places_.address(frame, sp_[frame]))) ^ pc_[frame];
    }

    // Whether the callers of remembered frame `frame` are still what they were.
    bool has_same_callers(uint32_t frame) const {
        uint64_t changed = 0;
        uint32_t at = 0;
        // Four at a time: this loop is what a deep stack costs each event.
        for (; at + 4 <= frame; at += 4)
            changed |= return_change(at) | return_change(at + 1) | return_change(at + 2) | return_change(at + 3);
        for (; at < frame; ++at)
            changed |= return_change(at);
        const uint32_t checks = checks_through_[frame];
        for (uint32_t i = 0; i < checks; ++i)
            changed |= word_at(checks_[i].address) ^ checks_[i].value;
        return changed == 0;
    }
    uint32_t find_on_path(uint32_t frame, uint64_t pc) const;
    void extend_path(uint32_t at);
    CallPath install(uint32_t kept, uint32_t added, bool cut);
    CallPath walk_uncached(const Guard&, Frame frame, StackReader* stack, uint32_t done);

    // Frame 0 is the outermost; frame i was called by frame i - 1. Separate arrays: a check touches two of them.
    uint32_t count_;
    uint32_t generation_;
    StackBounds bounds_;
    uint64_t sp_[kMaxFrames];
    uint64_t pc_[kMaxFrames];
    uint64_t bp_[kMaxFrames];
    uint64_t key_[kMaxFrames];
    uint64_t ancestors_[2][kMaxFrames]; // one bit in 128 for each address that stands on the frame's path
    uint16_t up_[kMaxFrames];           // the frame before it on its folded path, plus 1; 0: none
    trace::NodeId node_[kMaxFrames];    // 0: not looked up yet
    void* mark_[kMaxFrames];
    bool needs_bp_[kMaxFrames];           // its callers were found through its rbp
    uint16_t checks_before_[kMaxFrames];  // checks of the frames outside it
    uint16_t checks_through_[kMaxFrames]; // and with its own
    Check checks_[kMaxChecks];
    NewFrame new_[kMaxWalk];
    [[no_unique_address]] ReturnPlaces<kMaxFrames> places_;
    bool cut_;                // frame 0 has callers that are not known
    bool forget_next_;        // there were more words to check than are kept: the next walk starts afresh
    bool uncached_;           // the last path is not remembered, this is all that is known of it:
    trace::NodeId last_node_;
    void* last_mark_;
};

} // namespace plumb::shim
