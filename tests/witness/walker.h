// One unwinder of copied stacks, for one program: each of the three is behind this.
#pragma once

#include "module_files.h"
#include "samples.h"

#include <memory>

namespace plumb::witness {

struct Walk {
    std::vector<uint64_t> frames; // innermost first: the sampled address, then return addresses
    bool complete = false;         // the outermost frame was reached, as the unwinder sees it
    bool gave_up = false;          // by an error, though there was call-frame information; of libunwind only
    size_t first_guess = SIZE_MAX; // frame from which on callers were guessed, because there is no table; of libunwind only
};

constexpr size_t kMostFrames = 512;

class Walker {
  public:
    virtual ~Walker() = default;
    virtual void walk(const Sample& sample, Walk& walk) = 0;
};

// Of plumb's recorder, with room for each stack's frames kept.
std::unique_ptr<Walker> our_walker(const Program& program);

// Of libunwind.
std::unique_ptr<Walker> libunwind_walker(const ModuleFiles& files);

// By what the caller of a frame is found.
enum class CallerBy { nothing, stack_or_frame_pointer, another_register }; // nothing: no call-frame information

// Of elfutils, which also says what call-frame information there is.
class LibdwflWalker : public Walker {
  public:
    virtual CallerBy caller_by(uint64_t pc) = 0; // pc: the address minus one, of a return address
};
std::unique_ptr<LibdwflWalker> libdwfl_walker(const ModuleFiles& files);

} // namespace plumb::witness
