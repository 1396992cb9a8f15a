#include "record/paths/call_path.h"

#include "platform/unwind/unwind_table.h"
#include "record/paths/call_path_tree.h"

namespace plumb::shim {

// 0: the callers of remembered frame `frame` are still what they were. Else the number of the outermost frames that may be
// trusted no more, at most `frame`.
uint32_t CallPathCache::first_change(uint32_t frame) const {
    if (has_same_callers(frame))
        return 0;
    uint32_t suspects = 0;
    for (uint32_t i = frame; i > 0 && !suspects; --i)
        if (return_change(i - 1) != 0)
            suspects = i;
    for (uint32_t i = frame; i > suspects; --i)
        for (uint32_t check = checks_before_[i]; check < checks_through_[i]; ++check)
            if (word_at(checks_[check].address) != checks_[check].value)
                return i;
    return suspects;
}

// Unwind tables are not aligned. The walk itself reads words of the stack only (Guard::Flag::stays).
__attribute__((noinline)) static Step step_by_tables(Frame* frame, StackReader* stack, StepFacts* facts) {
    const AlignmentFlagTakenHere taken;
    return step_to_caller(frame, stack, facts);
}

// Its own function, because the walk needs a large frame.
__attribute__((noinline)) CallPath CallPathCache::find_anew(const Guard& guard, const Frame& caller) {
    if (bounds_.high == 0) {
        const AlignmentFlagTakenHere taken;
        bounds_ = find_stack_bounds();
        if (bounds_.high == 0)
            bounds_ = {UINT64_MAX - 1, UINT64_MAX}; // not known: every word is read through the kernel
    }
    const uint32_t generation = unwind_generation();
    if (generation != generation_ || forget_next_) {
        generation_ = generation;
        forget_next_ = false;
        count_ = 0;
    }
    StackReader stack(bounds_, caller.sp);
    if (!stack.on_own_stack())
        return walk_uncached(guard, caller, &stack, 0);

    Frame frame = caller;
    uint32_t kept = count_, added = 0;
    bool cut = false;
    for (;;) {
        while (kept && sp_[kept - 1] < frame.sp)
            --kept;
        if (kept) {
            const uint32_t i = kept - 1;
            if (sp_[i] == frame.sp && pc_[i] == frame.pc && (!needs_bp_[i] || bp_[i] == frame.bp)) {
                const uint32_t suspects = first_change(i);
                if (suspects == 0) {
                    places_.set(i, frame.place); // another function than then may have been called from there
                    break;
                }
                kept = suspects - 1;
            }
        }
        if (added == kMaxWalk) {
            cut = true;
            kept = 0;
            break;
        }
        NewFrame& step = new_[added];
        step.pc = frame.pc;
        step.sp = frame.sp;
        step.bp = frame.bp;
        step.place = frame.place;
        ++added;
        if (step_fast(&frame, bounds_.high, &step.facts))
            continue;
        const Step result = step_by_tables(&frame, &stack, &step.facts);
        if (result == Step::caller)
            continue;
        if (result == Step::interrupted)
            return walk_uncached(guard, frame, &stack, added);
        cut = result == Step::broken;
        kept = 0;
        step.facts = {cut && step.facts.uses_bp, false, 0, 0}; // it has no caller whose rbp could matter
        break;
    }
    if (kept + added > kMaxFrames) {
        cut = true;
        kept = 0;
    }
    return install(kept, added, cut);
}

// The frame of the folded path up to `frame` that has this return address, plus 1; 0: none.
inline uint32_t CallPathCache::find_on_path(uint32_t frame, uint64_t pc) const {
    // Mostly the bit was another address's. Seen without following the path, whose every step waits for the last.
    bool found = false;
    for (uint32_t i = 0; i <= frame; ++i)
        found |= pc_[i] == pc;
    if (__builtin_expect(!found, 1))
        return 0;
    for (uint32_t i = frame + 1; i != 0; i = up_[i - 1])
        if (pc_[i - 1] == pc)
            return i;
    return 0;
}

// Key, ancestors and fold of frame `at`, whose callers are complete.
inline void CallPathCache::extend_path(uint32_t at) {
    const uint64_t pc = pc_[at];
    const uint64_t mixed = pc * 0x9e3779b97f4a7c15u;
    const uint64_t bit = uint64_t{1} << (mixed >> 58);
    const uint32_t word = mixed >> 57 & 1;
    mark_[at] = nullptr;
    node_[at] = 0;
    if (at == 0) {
        ancestors_[word][0] = bit;
        ancestors_[1 - word][0] = 0;
        key_[0] = (mixed ^ mixed >> 32) | uint64_t{1} << 63;
        up_[0] = 0;
    } else if (uint32_t same; ancestors_[word][at - 1] & bit && (same = find_on_path(at - 1, pc)) != 0) {
        key_[at] = key_[same - 1];
        ancestors_[0][at] = ancestors_[0][same - 1];
        ancestors_[1][at] = ancestors_[1][same - 1];
        up_[at] = up_[same - 1];
        node_[at] = node_[same - 1];
        return;
    } else {
        const uint64_t hash = ((key_[at - 1] << 7 | key_[at - 1] >> 57) ^ pc) * 0xbf58476d1ce4e5b9u;
        key_[at] = (hash ^ hash >> 31) | uint64_t{1} << 63;
        ancestors_[word][at] = ancestors_[word][at - 1] | bit;
        ancestors_[1 - word][at] = ancestors_[1 - word][at - 1];
        up_[at] = static_cast<uint16_t>(at);
    }
}

// Puts the new frames on top of the `kept` remembered ones.
CallPath CallPathCache::install(uint32_t kept, uint32_t added, bool cut) {
    uint32_t at = kept;
    bool needs_outer_bp = kept ? needs_bp_[kept - 1] : false;
    uint32_t checks = kept ? checks_through_[kept - 1] : 0;
    bool remembered = true;
    if (kept == 0)
        cut_ = cut;
    for (uint32_t i = added; i-- > 0; ++at) {
        const NewFrame& step = new_[i];
        pc_[at] = step.pc;
        sp_[at] = step.sp;
        bp_[at] = step.bp;
        places_.set(at, step.place);
        extend_path(at);
        checks_before_[at] = static_cast<uint16_t>(checks);
        if (checks + 2 > kMaxChecks) {
            remembered = false;
        } else {
            if (step.facts.sp_address)
                checks_[checks++] = {step.facts.sp_address, word_at(step.facts.sp_address)}; // as the walk loaded it
            if (needs_outer_bp && !step.facts.keeps_bp && step.facts.bp_address)
                checks_[checks++] = {step.facts.bp_address, bp_[at - 1]};
        }
        checks_through_[at] = static_cast<uint16_t>(checks);
        needs_outer_bp = step.facts.uses_bp || (step.facts.keeps_bp && needs_outer_bp);
        needs_bp_[at] = needs_outer_bp;
    }
    count_ = at;
    forget_next_ = !remembered;
    uncached_ = false;
    return {key_[at - 1], &mark_[at - 1]};
}

trace::NodeId CallPathCache::node(const Guard& guard) {
    if (uncached_)
        return last_node_;
    // Down to a frame whose node is known, then up again.
    uint16_t unknown[kMaxFrames];
    uint32_t count = 0;
    uint32_t at = count_;
    while (at != 0 && node_[at - 1] == 0) {
        unknown[count++] = static_cast<uint16_t>(at - 1);
        at = up_[at - 1];
    }
    trace::NodeId node = at ? node_[at - 1] : cut_ ? kCutPath : 0;
    while (count-- > 0) {
        node = call_path_child(guard, node, pc_[unknown[count]]);
        node_[unknown[count]] = node;
    }
    return node == kCutPath ? 0 : node;
}

// Across signals and on foreign stacks: `done` frames are in new_, the rest is walked and nothing is remembered.
CallPath CallPathCache::walk_uncached(const Guard& guard, Frame frame, StackReader* stack, uint32_t done) {
    const AlignmentFlagTakenHere taken;
    Step result = Step::caller;
    while (done < kMaxWalk) {
        // Readers look up the address before a return address; an interrupted instruction is shifted to suit.
        new_[done++].pc = frame.exact ? frame.pc + 1 : frame.pc;
        StepFacts facts;
        result = step_to_caller(&frame, stack, &facts);
        if (result == Step::outermost || result == Step::broken)
            break;
    }
    cut_ = result != Step::outermost;
    for (uint32_t at = 0; at < done; ++at) {
        pc_[at] = new_[done - 1 - at].pc;
        extend_path(at);
    }
    count_ = done;
    uncached_ = false;
    last_node_ = node(guard);
    uncached_ = true;
    count_ = 0;
    last_mark_ = nullptr;
    return {last_node_, &last_mark_};
}

} // namespace plumb::shim
