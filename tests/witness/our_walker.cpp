#include "walker.h"

#include "unwind/stack_unwinder.h"

namespace plumb::witness {

namespace {

class ProgramCode final : public unwind::CodeMap {
  public:
    explicit ProgramCode(const Program& program) : program_(program) {}
    unwind::MappedCode code_at(uint64_t address) const override {
        const Mapping* const mapping = program_.at(address);
        return mapping ? unwind::MappedCode{&mapping->path, mapping->start, mapping->file_offset, mapping->path == "[vdso]"}
                       : unwind::MappedCode{};
    }

  private:
    const Program& program_;
};

class OurWalker final : public Walker {
  public:
    explicit OurWalker(const Program& program) : code_(program) {}

    // Each stack on its own: nothing is taken from the one before, as the recorder would of the same thread's.
    void walk(const Sample& sample, Walk& walk) override {
        latest_.clear();
        unwinder_.unwind({sample.pc(), sample.sp(), sample.bp(), sample.stack}, code_, kMostFrames, stack_, latest_);
        walk.frames.assign(stack_.addresses.begin(), stack_.addresses.end());
        walk.complete = stack_.complete;
    }

  private:
    ProgramCode code_;
    unwind::StackUnwinder unwinder_;
    unwind::UnwoundStack stack_;
    unwind::WalkedStack latest_;
};

} // namespace

std::unique_ptr<Walker> our_walker(const Program& program) { return std::make_unique<OurWalker>(program); }

} // namespace plumb::witness
