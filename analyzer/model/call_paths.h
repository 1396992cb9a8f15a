// Call paths with source frames, resolved once and cached. Answers the question every diagnosis asks: which line
// of the user's own code does this belong to?
#pragma once

#include "model/run.h"
#include "model/source_resolver.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::model {

class CallPaths {
  public:
    explicit CallPaths(const Run& run, SourceResolver& resolver) : run_(run), resolver_(resolver) {}

    // Source frames of one node of process `process`, innermost first; never empty.
    const std::vector<SourceFrame>& frames_of(size_t process, uint32_t node);

    // All frames from `node` to the outermost, innermost first.
    std::vector<SourceFrame> stack(size_t process, uint32_t node);

    // Module that `address` of `process` lies in, at any time of the run; null: none known.
    const Module* module_of(size_t process, uint64_t address) const;

    // The first frame from the leaf outwards that is the user's own code: not in libc, the loader, libstdc++,
    // libgomp, an MPI library or another system library, and with a source line if any such frame has one.
    // Falls back to the innermost frame.
    SourceFrame user_frame(size_t process, uint32_t node);

    const Run& run() const { return run_; }

  private:
    struct Range {
        uint64_t start, end;
        size_t module;
    };
    const Run& run_;
    SourceResolver& resolver_;
    mutable std::unordered_map<size_t, std::vector<Range>> ranges_;
    std::unordered_map<uint64_t, std::vector<SourceFrame>> frames_; // key: process << 32 | node
};

// True for paths of libraries that came with the system's tool chain (libc, ld.so, libstdc++, libgcc, libm,
// libpthread, libgomp, libgfortran, MPI, the shim itself): never "the user's own code".
bool is_system_module(const std::string& path);

} // namespace plumb::model
