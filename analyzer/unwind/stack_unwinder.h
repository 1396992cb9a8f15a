// Call chains from copied stacks: a sample's registers and the bytes above its stack pointer, unwound by the
// call-frame information that compilers put into every program. Works without frame pointers and without debug info.
#pragma once

#include "unwind/unwind_image.h"
#include "unwind/walked_stack.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plumb::unwind {

// The state of a thread in user mode when it was sampled, with the lowest bytes of its stack.
struct StackSample {
    uint64_t pc = 0, sp = 0, bp = 0;
    std::span<const char> stack; // stack[0] stands at address sp
    uint64_t link = 0;           // the register that calls leave the return address in; 0: none, or not known
};

// What is mapped at an address of the sampled process.
struct MappedCode {
    const std::string* path = nullptr; // "" for code without a file
    uint64_t start = 0;                // of the mapping
    uint64_t file_offset = 0;          // of its start
    bool vdso = false;
};

class CodeMap {
  public:
    virtual ~CodeMap() = default;
    // Null path: nothing executable is mapped there.
    virtual MappedCode code_at(uint64_t address) const = 0;
};

struct UnwoundStack {
    std::vector<uint64_t> addresses; // innermost first; all but the first are return addresses
    bool complete = false;           // the outermost frame was reached
};

class StackUnwinder {
  public:
    // At most `limit` frames. Not thread-safe: remembers images and rules. About 1 us for ten frames of known code.
    UnwoundStack unwind(const StackSample& sample, const CodeMap& code, size_t limit);
    // The same into room that is there. `latest`: of the same thread, made with the same code at the same addresses, else empty;
    // it becomes this walk. The result is the same with it and without, and comes faster.
    void unwind(const StackSample& sample, const CodeMap& code, size_t limit, UnwoundStack& result, WalkedStack& latest);

    // The file's table, read when first asked for. Null: it has none, or there is no file.
    UnwindImage* image_of(const MappedCode& code);

  private:
    void walk(const StackSample& sample, const CodeMap& code, size_t limit, UnwoundStack& result, const WalkedStack& latest);

    using Images = std::map<std::string, std::unique_ptr<UnwindImage>, std::less<>>; // by path; null: has no table
    Images images_;
    std::array<const Images::value_type*, 4> latest_{}; // asked for, in turn: most chains lie in few files
    size_t next_latest_ = 0;
    WalkedStack walk_; // under way; kept for its room
};

} // namespace plumb::unwind
