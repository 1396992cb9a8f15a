// How the model learns source lines without knowing who reads debug info. symbols/ implements it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

struct Module;

// One source-level frame. An address has one for its function and one more for each level of inlining.
struct SourceFrame {
    std::string function; // demangled, as users write it, without parameters; "name+0x12" where only a symbol is
                          // known; "libx.so+0x1234" where not even that is: the address inside the file at
                          // which the nameless function begins, or of the instruction if its begin is not known
    std::string file;     // as in the debug info, after source maps; empty without debug info
    uint32_t line = 0;    // 0: unknown
    std::string module;   // file name of the executable or library, "[vdso]", "[anonymous]", "[kernel]"
    bool inlined = false; // its body was inlined into the next frame of the list
};

class SourceResolver {
  public:
    virtual ~SourceResolver() = default;

    // Innermost (most inlined) first, never empty. `address` is in the address space of the process that loaded
    // `module`; callers pass return addresses minus one. Not thread-safe. Never throws: what cannot be resolved
    // comes back as module + offset.
    virtual std::vector<SourceFrame> resolve(const Module& module, uint64_t address) = 0;

    // What stood in the way so far, one sentence a module: files that are missing, changed since the run, or without
    // debug info. For the report's evidence.
    virtual std::vector<std::string> notes() const { return {}; }
};

} // namespace plumb::model
