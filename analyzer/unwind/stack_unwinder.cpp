#include "unwind/stack_unwinder.h"

#include "platform/unwind/unwind_rule.h" // of the shim

#include <cstring>

namespace plumb::unwind {

namespace {

using shim::BpKind;
using shim::CfaKind;
using shim::UnwindRule;

// Of ucontext_t as the kernel pushes it for a signal handler, from rsp after the handler's return (x86-64).
constexpr uint64_t kContextBp = 120, kContextSp = 160, kContextPc = 168;

class CopiedStack {
  public:
    explicit CopiedStack(const StackSample& sample) : sample_(sample) {}
    bool load(uint64_t address, uint64_t& value) const {
        if (address < sample_.sp || address - sample_.sp + 8 > sample_.stack.size())
            return false;
        std::memcpy(&value, sample_.stack.data() + (address - sample_.sp), 8);
        return true;
    }

  private:
    const StackSample& sample_;
};

struct Frame {
    uint64_t pc, sp, bp;
    bool exact; // pc is an instruction that was interrupted, not a return address
};

enum class Step { caller, outermost, broken };

// Replaces `frame` by its caller's. A null rule word stands for code without a table.
Step step(Frame& frame, const UnwindRule& rule, const CopiedStack& stack) {
    Frame caller{0, 0, frame.bp, false};
    switch (rule.cfa) {
    case CfaKind::from_sp:
        caller.sp = frame.sp + static_cast<int64_t>(rule.cfa_offset);
        break;
    case CfaKind::from_bp:
        caller.sp = frame.bp + static_cast<int64_t>(rule.cfa_offset);
        break;
    case CfaKind::loaded_bp:
        if (!stack.load(frame.bp + static_cast<int64_t>(rule.cfa_offset), caller.sp))
            return Step::broken;
        break;
    case CfaKind::signal_frame:
        if (!stack.load(frame.sp + kContextPc, caller.pc) || !stack.load(frame.sp + kContextSp, caller.sp) ||
            !stack.load(frame.sp + kContextBp, caller.bp))
            return Step::broken;
        caller.exact = true;
        frame = caller;
        return Step::caller;
    case CfaKind::outermost:
        return Step::outermost;
    case CfaKind::no_table: // code made at run time and some assembler mostly keep the frame-pointer convention
        caller.sp = frame.bp + 16;
        if (!stack.load(frame.bp, caller.bp))
            return Step::broken;
        break;
    case CfaKind::none:
    case CfaKind::unknown:
        return Step::broken;
    }
    if (caller.sp <= frame.sp || caller.sp & 7 || !stack.load(caller.sp - 8, caller.pc))
        return Step::broken;
    if (caller.pc == 0)
        return Step::outermost;
    uint64_t bp_address = 0;
    if (rule.bp == BpKind::at_cfa)
        bp_address = caller.sp + static_cast<int64_t>(rule.bp_offset);
    else if (rule.bp == BpKind::at_bp)
        bp_address = frame.bp + static_cast<int64_t>(rule.bp_offset);
    else if (rule.bp == BpKind::lost)
        caller.bp = 0;
    if (bp_address && !stack.load(bp_address, caller.bp))
        caller.bp = 0; // a caller that needs it ends the walk
    frame = caller;
    return Step::caller;
}

} // namespace

bool StackUnwinder::works() {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

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
    unwind(sample, code, limit, result);
    return result;
}

void StackUnwinder::unwind(const StackSample& sample, const CodeMap& code, size_t limit, UnwoundStack& result) {
    result.addresses.clear();
    result.complete = false;
    const CopiedStack stack(sample);
    Frame frame{sample.pc, sample.sp, sample.bp, true};
    while (result.addresses.size() < limit) {
        // A return address may stand behind the last byte of a function: the call is what counts.
        const uint64_t place = frame.exact ? frame.pc : frame.pc - 1;
        const MappedCode mapped = code.code_at(place);
        if (!mapped.path && !frame.exact)
            return; // not a return address: what was unwound so far is all that is known
        result.addresses.push_back(frame.pc);
        if (!mapped.path)
            return;
        UnwindRule rule;
        rule.cfa = CfaKind::no_table;
        if (UnwindImage* image = image_of(mapped))
            if (const auto address = image->address_of(place - mapped.start + mapped.file_offset))
                rule = UnwindRule::unpack(image->rule_at(*address));
        switch (step(frame, rule, stack)) {
        case Step::caller:
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
