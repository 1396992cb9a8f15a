#include "record/call_path.h"

#include "platform/unwind_table.h"
#include "record/call_path_tree.h"

namespace plumb::shim {
namespace {

uint64_t word_at(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

} // namespace

// Whether the callers of remembered frame `frame` are still what they were: returns 0 if so, else the number of the
// outermost frames that may be trusted no more (never more than `frame`).
inline uint32_t CallPathCache::first_change(uint32_t frame) const {
    uint64_t changed = 0;
    for (uint32_t i = 0; i < frame; ++i)
        changed |= word_at(sp_[i] - 8) ^ pc_[i];
    const uint32_t checks = checks_through_[frame];
    for (uint32_t i = 0; i < checks; ++i)
        changed |= word_at(checks_[i].address) ^ checks_[i].value;
    if (!changed)
        return 0;
    uint32_t suspects = 0;
    for (uint32_t i = frame; i > 0 && !suspects; --i)
        if (word_at(sp_[i - 1] - 8) != pc_[i - 1])
            suspects = i;
    for (uint32_t i = frame; i > suspects; --i)
        for (uint32_t check = checks_before_[i]; check < checks_through_[i]; ++check)
            if (word_at(checks_[check].address) != checks_[check].value)
                return i;
    return suspects;
}

CallPath CallPathCache::find(const Guard& guard, const Frame& caller) {
    if (bounds_.high == 0) {
        bounds_ = find_stack_bounds();
        if (bounds_.high == 0)
            bounds_ = {UINT64_MAX - 1, UINT64_MAX}; // not known: every word is read through the kernel
    }
    const uint32_t generation = unwind_generation();
    if (generation != generation_) {
        generation_ = generation;
        count_ = 0;
    }

    // The usual case: the last event came from the same call.
    if (count_) {
        const uint32_t top = count_ - 1;
        if (pc_[top] == caller.pc && sp_[top] == caller.sp && (!needs_bp_[top] || bp_[top] == caller.bp) &&
            first_change(top) == 0)
            return {node_[top], &mark_[top]};
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
                if (suspects == 0)
                    break;
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
        const Step result = step_to_caller(&frame, &stack, &step.facts);
        ++added;
        step.caller_sp = frame.sp;
        step.caller_bp = frame.bp;
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
    return install(guard, kept, added, cut);
}

// Puts the new frames on top of the `kept` remembered ones.
CallPath CallPathCache::install(const Guard& guard, uint32_t kept, uint32_t added, bool cut) {
    uint32_t at = kept;
    trace::NodeId node = kept ? node_[kept - 1] : cut ? kCutPath : 0;
    bool needs_outer_bp = kept ? needs_bp_[kept - 1] : false;
    uint32_t checks = kept ? checks_through_[kept - 1] : 0;
    bool remembered = true;
    for (uint32_t i = added; i-- > 0; ++at) {
        const NewFrame& step = new_[i];
        node = call_path_child(guard, node, step.pc);
        pc_[at] = step.pc;
        sp_[at] = step.sp;
        bp_[at] = step.bp;
        node_[at] = node;
        mark_[at] = 0;
        checks_before_[at] = static_cast<uint16_t>(checks);
        if (checks + 2 > kMaxChecks) {
            remembered = false;
        } else {
            if (step.facts.sp_address)
                checks_[checks++] = {step.facts.sp_address, step.caller_sp};
            if (needs_outer_bp && !step.facts.keeps_bp && step.facts.bp_address)
                checks_[checks++] = {step.facts.bp_address, step.caller_bp};
        }
        checks_through_[at] = static_cast<uint16_t>(checks);
        needs_outer_bp = step.facts.uses_bp || (step.facts.keeps_bp && needs_outer_bp);
        needs_bp_[at] = needs_outer_bp;
    }
    count_ = remembered ? at : 0;
    return {node == kCutPath ? 0 : node, &mark_[at - 1]};
}

// Across signals and on foreign stacks: `done` frames are in new_, the rest is walked and nothing is remembered.
CallPath CallPathCache::walk_uncached(const Guard& guard, Frame frame, StackReader* stack, uint32_t done) {
    Step result = Step::caller;
    while (done < kMaxWalk) {
        // Readers look up the address before a return address; an interrupted instruction is shifted to suit.
        new_[done++].pc = frame.exact ? frame.pc + 1 : frame.pc;
        StepFacts facts;
        result = step_to_caller(&frame, stack, &facts);
        if (result == Step::outermost || result == Step::broken)
            break;
    }
    trace::NodeId node = result == Step::outermost ? 0 : kCutPath;
    for (uint32_t i = done; i-- > 0;)
        node = call_path_child(guard, node, new_[i].pc);
    count_ = 0;
    scratch_mark_ = 0;
    return {node == kCutPath ? 0 : node, &scratch_mark_};
}

} // namespace plumb::shim
