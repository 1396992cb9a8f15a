// Call paths with source frames, resolved once and cached. Answers the question every diagnosis asks: which line
// of the user's own code does this belong to?
#pragma once

#include "model/run.h"
#include "model/source_resolver.h"

#include <compare>
#include <map>
#include <optional>
#include <unordered_map>
#include <string>
#include <vector>

namespace plumb::model {

inline constexpr size_t kMostFrames = 10'000; // of a path: a damaged tree may hold a ring
inline constexpr size_t kMostCallers = 256;   // where every path of a run is walked

class CallPaths {
  public:
    explicit CallPaths(const Run& run, SourceResolver& resolver);

    // Source frames of one node of process `process`, innermost first; never empty. Code of the system (is_system_module)
    // has one frame, its function: nobody looks for lines in it, and reading its debug info takes longer than all else.
    const std::vector<SourceFrame>& frames_of(size_t process, uint32_t node);

    // Source frames of any address of `process`, not cached; for questions about code that no node lies in.
    std::vector<SourceFrame> frames_at(size_t process, uint64_t address);

    // The machine code of the function that holds `address`: see SourceResolver::function_code.
    std::optional<FunctionCode> function_code(size_t process, uint64_t address);

    // The function of another file that node `node`, which is no leaf, calls: as its code says, whatever that function went on
    // to. Empty: not known (SourceResolver::called_function).
    std::string called_function(size_t process, uint32_t node);

    // All frames from `node` to the outermost, innermost first.
    std::vector<SourceFrame> stack(size_t process, uint32_t node);

    // Module that `address` of `process` lies in, at any time of the run; null: none known.
    const Module* module_of(size_t process, uint64_t address) const;

    // The frame to show to the user for `node`: from the leaf outwards the first of the best rank that occurs.
    //  1. the user's own code with a source line outside the tool chain's headers (what std::vector inlined
    //     belongs to the line that called it)
    //  2. own code of which only the function is known (start-up code like _start does not count)
    //  3. own code with a source line in such a header: in a Rust program without debug info the standard library's parts
    //     have lines, what calls main and what main calls, and nothing else
    //  4. a library of the system with a source line, then 5. with a function name: whoever runs a stripped
    //     program of a distribution (sqlite3) wants to read sqlite3_step, not sqlite3+0x1c40
    //  6. own code of which only the offset is known
    //  7. the innermost frame, whatever it is
    // Own code is the program itself wherever it lies, code made at run time, and libraries outside the system's
    // directories; see is_system_module for what never counts.
    SourceFrame user_frame(size_t process, uint32_t node);

    // The same for an instruction that no node lies in; `caller`: the node that called its function, 0: not known.
    SourceFrame user_frame_at(size_t process, uint64_t address, uint32_t caller);

    // The frames of the user's own code that led to user_frame(), innermost first, at most `most`. Recursion into the same
    // line counts once.
    std::vector<SourceFrame> user_callers(size_t process, uint32_t node, size_t most);

    // What the source calls the data at an address (SourceResolver): the static variable or common block; the local
    // variable of the function at access.instruction; the member of the structure that its base register points to.
    std::optional<DataName> static_at(size_t process, const DataAccess& access);
    std::optional<DataName> local_at(size_t process, const DataAccess& access);
    std::optional<DataName> pointed_at(size_t process, const DataAccess& access);

    const Run& run() const { return run_; }

  private:
    struct Range { // disjoint, by start
        uint64_t start, end;
        size_t module;
    };
    const std::vector<Range>& ranges_of(size_t process) const;
    std::vector<SourceFrame> resolve(size_t process, const Module* module, uint64_t address);

    const Run& run_;
    SourceResolver& resolver_;
    mutable std::unordered_map<size_t, std::vector<Range>> ranges_;
    uint32_t best_outwards(size_t process, uint32_t node); // the node whose frame user_frame() shows

    // Many nodes share an address: its frames stand once. Ordered, because the addresses come from a file: a hash
    // could be made to collide.
    struct CodePlace {
        size_t process;
        bool kernel;
        uint64_t address;
        auto operator<=>(const CodePlace&) const = default;
    };
    struct PlaceFrames {
        std::vector<SourceFrame> frames; // empty: not asked for yet
        uint32_t best = 0;               // of them, for user_frame()
        int rank = 0;                    // its rank; the worst for the system's code, which is known without its frames
    };
    std::vector<SourceFrame> frames_at_place(const CodePlace& place, const Module* module);
    PlaceFrames& place_of(size_t process, uint32_t node); // both must exist
    static CodePlace code_place(size_t process, const PathNode& path);

    std::map<CodePlace, PlaceFrames> places_;
    struct Known { // of one node; null and 0: not asked yet
        PlaceFrames* place = nullptr;
        uint32_t user_node = 0; // of the path from it outwards, the one with the best frame
    };
    std::vector<std::vector<Known>> known_; // [process][node]
    const std::vector<SourceFrame> unknown_frames_;
};

// True for paths of libraries that came with the system's tool chain (libc, ld.so, libstdc++, libgcc, libm,
// libpthread, libgomp, libgfortran, allocators, MPI and its transports, the shim itself): never "the user's own
// code", wherever they are installed. Decided by the file's name.
bool is_system_module(const std::string& path);

// Of these: MPI libraries, their parts, and what they travel on.
bool is_mpi_module(const std::string& path);

// Of these: libraries that run the teams of OpenMP.
bool is_openmp_module(const std::string& path);

// The libraries that plumb itself preloads.
bool is_shim_module(const std::string& path);

// The program itself wherever it lies, code made at run time, and libraries outside the system's directories. What another
// library calls on the way to this code is not the program's: MPI loads libraries that are in no list of names, and what lies
// under code of the program's own is the program's, even where MPI called that in turn (an operator, an error handler).
bool is_program_code(const Module& module);

// True for programs and libraries where a distribution's packages put them (/usr/bin, /usr/lib): whoever runs them
// seldom builds them, so advice to change their code gains nothing for certain. Not for /usr/local and /opt.
bool is_packaged_file(const std::string& path);

// True for source files that came with the compiler or the system: what is inlined from them belongs to its caller.
bool is_system_source(const std::string& file);

} // namespace plumb::model
