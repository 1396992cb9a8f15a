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
    bool load(uint64_t address, uint64_t* value) const {
        if (address < sample_.sp || address - sample_.sp + 8 > sample_.stack.size())
            return false;
        std::memcpy(value, sample_.stack.data() + (address - sample_.sp), 8);
        return true;
    }
    void switch_stack(uint64_t) {} // one part of one stack is all there is

  private:
    const StackSample& sample_;
};

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
    CopiedStack stack(sample);
    shim::StepFacts facts;
    Frame frame{sample.pc, sample.sp, sample.bp, true};
    while (result.addresses.size() < limit) {
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
        if (UnwindImage* image = image_of(mapped))
            if (const auto address = image->address_of(place - mapped.start + mapped.file_offset))
                rule = UnwindRule::unpack(image->rule_at(*address));
        switch (shim::step_by_rule<true>(rule, &frame, &stack, &facts)) {
        case Step::caller:
        case Step::interrupted:
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
