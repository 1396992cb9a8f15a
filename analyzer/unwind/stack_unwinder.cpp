#include "unwind/stack_unwinder.h"

#include "platform/unwind/rule_step.h" // of the shim

#include <cstring>

namespace plumb::unwind {

namespace {

using shim::CfaKind;
using shim::Frame;
using shim::Step;
using shim::UnwindRule;

class CopiedStack {
  public:
    explicit CopiedStack(const StackSample& sample) : sample_(sample) {}
    void note_in(WalkedStep& step) { step_ = &step; }
    bool load(uint64_t address, uint64_t* value) {
        if (!read(address, value)) {
            step_ = nullptr; // what lies there is not known: it may lie in the next copy
            return false;
        }
        if (step_)
            step_->words[step_->word_count++] = {address, *value};
        return true;
    }
    void switch_stack(uint64_t) {} // one part of one stack is all there is
    bool knew_all() const { return step_ != nullptr; }

    // Notes nothing.
    bool peek(uint64_t address, uint64_t* value) const { return read(address, value); }

    bool holds(const WalkedStep& step) const {
        for (uint32_t i = 0; i < step.word_count; ++i)
            if (uint64_t value = 0; !read(step.words[i].address, &value) || value != step.words[i].value)
                return false;
        return true;
    }

  private:
    bool read(uint64_t address, uint64_t* value) const {
        if (address < sample_.sp || sample_.stack.size() < 8 || address - sample_.sp > sample_.stack.size() - 8)
            return false; // no sum: it may go around
        std::memcpy(value, sample_.stack.data() + (address - sample_.sp), 8);
        return true;
    }

    const StackSample& sample_;
    WalkedStep* step_ = nullptr; // whose loads are noted
};

// Whether pc, sp and bp are all that the next step depends on, but for the stack.
bool is_plain(const Frame& frame) { return !shim::kReturnsByLink || (frame.place.knows_sp() && !frame.exact); }

bool begins_at(const WalkedStep& step, const Frame& frame) {
    return step.pc == frame.pc && step.sp == frame.sp && step.bp == frame.bp && step.exact == frame.exact && is_plain(frame);
}

// Of a frame whose rbp is not known, by the size of its function's frame; 0: not known. Only if there is a return address above.
uint64_t frame_pointer_of(const Frame& frame, const UnwindRule& rule, const CopiedStack& stack, const CodeMap& code,
                          std::optional<uint32_t> bytes) {
    if (!bytes)
        return 0;
    const uint64_t pointer = frame.sp + *bytes;
    uint64_t back = 0;
    const bool is_frame = stack.peek(pointer + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset)) - 8, &back) &&
                          back != 0 && code.code_at(back - 1).path;
    return is_frame ? pointer : 0;
}

} // namespace

UnwindImage* StackUnwinder::image_of(const MappedCode& code) {
    static const std::string vdso_name = "[vdso]";
    const std::string& name = code.vdso ? vdso_name : *code.path;
    for (const Images::value_type* latest : latest_)
        if (latest && latest->first == name)
            return latest->second.get();
    auto known = images_.find(name);
    if (known == images_.end()) {
        auto image = code.vdso ? UnwindImage::of_vdso() : name.empty() ? nullptr : UnwindImage::read(name);
        known = images_.emplace(name, std::move(image)).first;
    }
    latest_[next_latest_++ % latest_.size()] = &*known;
    return known->second.get();
}

UnwoundStack StackUnwinder::unwind(const StackSample& sample, const CodeMap& code, size_t limit) {
    UnwoundStack result;
    WalkedStack none;
    unwind(sample, code, limit, result, none);
    return result;
}

void StackUnwinder::unwind(const StackSample& sample, const CodeMap& code, size_t limit, UnwoundStack& result,
                           WalkedStack& latest) {
    result.addresses.clear();
    result.complete = false;
    walk_.clear();
    walk(sample, code, limit, result, latest);
    latest.swap(walk_);
}

void StackUnwinder::walk(const StackSample& sample, const CodeMap& code, size_t limit, UnwoundStack& result,
                         const WalkedStack& latest) {
    CopiedStack stack(sample);
    shim::StepFacts facts;
    Frame frame = shim::interrupted_frame(sample.pc, sample.sp, sample.bp, sample.link);
    size_t known = 0; // step of the latest walk that may be the next one of this
    while (result.addresses.size() < limit) {
        while (known < latest.size() && latest[known].sp < frame.sp)
            ++known;
        if (known + 1 < latest.size() && latest[known].is_repeatable && begins_at(latest[known], frame) &&
            stack.holds(latest[known])) {
            result.addresses.push_back(frame.pc);
            walk_.add(latest[known]);
            const WalkedStep& next = latest[++known];
            frame = {next.pc, next.sp, next.bp, next.exact};
            continue;
        }
        // A return address may stand behind the last byte of a function: the call is what counts.
        const uint64_t place = frame.lookup_pc();
        const MappedCode mapped = code.code_at(place);
        if (!mapped.path && !frame.exact)
            return; // not a return address: what was unwound so far is all that is known
        result.addresses.push_back(frame.pc);
        if (!mapped.path)
            return;
        UnwindRule rule;
        rule.cfa = CfaKind::no_table;
        uint64_t frame_pointer = frame.bp;
        if (UnwindImage* image = image_of(mapped))
            if (const auto address = image->address_of(place - mapped.start + mapped.file_offset)) {
                rule = UnwindRule::unpack(image->rule_at(*address));
                if (!shim::kReturnsByLink && rule.cfa == CfaKind::from_bp && frame.bp == 0)
                    frame_pointer = frame_pointer_of(frame, rule, stack, code, image->frame_bytes_at(*address + (frame.exact ? 0 : 1)));
            }
        WalkedStep& step = walk_.add({.pc = frame.pc, .sp = frame.sp, .bp = frame.bp, .exact = frame.exact, .words = {}});
        frame.bp = frame_pointer; // follows from the frame and a word that the step loads
        stack.note_in(step);
        const bool was_plain = is_plain(frame);
        switch (shim::step_by_rule<true>(rule, &frame, &stack, &facts)) {
        case Step::caller:
        case Step::interrupted:
            step.is_repeatable = stack.knew_all() && was_plain && is_plain(frame);
            break;
        case Step::outermost:
            result.complete = true;
            return;
        case Step::broken:
            return;
        }
    }
}

} // namespace plumb::unwind
