// The call path of the calling thread, found fast by remembering the last one.
//
// Each thread keeps the frames of its last walk. A new walk steps by unwind rules only until it meets a remembered
// frame (same stack address, same return address); then every word that the outer part of the old walk had read
// (return addresses, and saved frame pointers where a frame is addressed through them) is compared with what is
// stored there now. All equal: a new walk would read the same words and arrive at the same frames, so the old result
// stands. Not equal: stepping goes on. The result is always that of a full walk; usually it costs one load a frame.
#pragma once

#include "platform/unwind_step.h"
#include "record/trace_writer.h"

namespace plumb::shim {

// The frame that called the function in which this is written (which must have a frame pointer).
#define PLUMB_CALLER_FRAME()                                                                                 \
    (::plumb::shim::Frame{reinterpret_cast<uint64_t>(__builtin_return_address(0)),                           \
                          reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16,                       \
                          *static_cast<const uint64_t*>(__builtin_frame_address(0)), false})

struct CallPath {
    trace::NodeId node; // 0: nothing is known
    uint32_t* mark;     // a word that stays with the path as long as the thread remembers it; 0 at first
};

class CallPathCache {
  public:
    // Belongs to one thread. Zeroed memory is a valid empty cache. Signal-safe after the first call.
    CallPath find(const Guard&, const Frame& caller);

    // Another thread takes the cache over: forgets frames, marks and the stack's bounds.
    void begin_thread() {
        count_ = 0;
        bounds_ = {};
    }

    static constexpr uint32_t kMaxWalk = 128;   // new frames a walk; what lies further out is cut
    static constexpr uint32_t kMaxFrames = 256; // remembered
    static constexpr uint32_t kMaxChecks = 128;

  private:
    struct NewFrame {
        uint64_t pc, sp, bp;
        StepFacts facts;
        uint64_t caller_sp, caller_bp;
    };
    struct Check {
        uint64_t address, value;
    };

    uint32_t first_change(uint32_t frame) const;
    CallPath install(const Guard&, uint32_t kept, uint32_t added, bool cut);
    CallPath walk_uncached(const Guard&, Frame frame, StackReader* stack, uint32_t done);

    // Frame 0 is the outermost; frame i was called by frame i - 1. Separate arrays: a check touches two of them.
    uint32_t count_;
    uint32_t generation_;
    StackBounds bounds_;
    uint64_t sp_[kMaxFrames];
    uint64_t pc_[kMaxFrames];
    uint64_t bp_[kMaxFrames];
    trace::NodeId node_[kMaxFrames];
    uint32_t mark_[kMaxFrames];
    bool needs_bp_[kMaxFrames];           // its callers were found through its rbp
    uint16_t checks_before_[kMaxFrames];  // checks of the frames outside it
    uint16_t checks_through_[kMaxFrames]; // and with its own
    Check checks_[kMaxChecks];
    NewFrame new_[kMaxWalk];
    uint32_t scratch_mark_;
};

} // namespace plumb::shim
