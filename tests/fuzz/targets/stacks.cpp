#include "feed.h"
#include "target.h"

#include "unwind/stack_unwinder.h"

namespace plumb::fuzz {

namespace {

constexpr uint64_t kCode = 0x400000, kVdso = 0x7ffff000, kMapped = 0x4000;

// Code without a table, and the kernel's image, which every process has.
class TwoMappings final : public unwind::CodeMap {
  public:
    unwind::MappedCode code_at(uint64_t address) const override {
        static const std::string nameless;
        if (address - kCode < kMapped)
            return {&nameless, kCode, 0, false};
        if (address - kVdso < kMapped)
            return {&nameless, kVdso, 0, true};
        return {};
    }
};

} // namespace

// Registers, then the stack.
void run_stacks(Bytes input) {
    static unwind::StackUnwinder unwinder;
    Feed feed(input);
    unwind::StackSample sample;
    sample.pc = feed.number<uint64_t>();
    sample.sp = feed.number<uint64_t>();
    sample.bp = feed.number<uint64_t>();
    const std::string stack(as_text(feed.rest())); // with a sanitizer, its ends are watched
    sample.stack = {stack.data(), stack.size()};
    const TwoMappings code;
    constexpr size_t kMost = 128;
    const unwind::UnwoundStack found = unwinder.unwind(sample, code, kMost);
    static unwind::WalkedStack latest; // of whatever was unwound before
    unwind::UnwoundStack again;
    unwinder.unwind(sample, code, kMost, again, latest);
    unwinder.unwind(sample, code, kMost, again, latest);
    require(again.addresses == found.addresses && again.complete == found.complete);
    require(found.addresses.size() <= kMost && (found.addresses.empty() || found.addresses[0] == sample.pc));
}

Seeds seeds_of_stacks() {
    constexpr uint64_t kStack = 0x7ffd0000;
    Food frames; // of the frame-pointer convention
    frames.number(kCode + 0x10).number(kStack).number(kStack);
    for (uint64_t i = 1; i < 6; ++i)
        frames.number(kStack + 16 * i).number(i == 5 ? 0 : kCode + 0x10 * i);
    Food vdso;
    vdso.number(kVdso + 0x800).number(kStack).number(kStack + 8);
    for (uint64_t i = 0; i < 30; ++i)
        vdso.number(i % 2 ? kCode + i : kVdso + 0x900 + i);
    return {{"frame_pointers", frames}, {"vdso", vdso}};
}

} // namespace plumb::fuzz
