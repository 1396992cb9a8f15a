// How the model learns source lines without knowing who reads debug info. symbols/ implements it.
#pragma once

#include <cstdint>
#include <optional>
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
    uint32_t function_line = 0; // at which `function` is declared in `file`; 0: unknown, or in another file
};

// What lies at an address of data, as the source calls it.
struct DataName {
    enum class Kind { variable, common_block, stack_variable, pointed_structure };
    Kind kind = Kind::variable;
    std::string name;   // "table", "solve()::seed" for a static of a function, "/pair/" for a common block, "struct
                        // record" for a structure that is known only by its type
    std::string member; // what of it was accessed: "x", "cells[3].weight", "[3].weight" where the variable is an array
                        // itself; empty: it has no parts, or none lies there
    std::string expression; // the whole as the source would write it: "cells[3].weight", "p->weight", "pts(2)%w"
    std::string type;   // of the variable, empty: not known
    uint64_t size = 0;  // of the variable, bytes; 0: not known
    uint64_t offset = 0;          // of the access within the variable
    // The structure or block that holds the member; of nested ones the one whose layout misplaces it, else the
    // innermost.
    std::string holder;           // "struct record", "/pair/"; empty: no structure is involved
    std::string holder_file;      // of its declaration, empty: not known
    uint32_t holder_line = 0;
    uint64_t member_offset = 0;   // of the member within the holder
    uint64_t member_size = 0;     // bytes, 0: not known
    uint32_t member_alignment = 0; // natural alignment of the member's type, 0: not known
    bool packed = false;          // the structure puts the member where its type would not lie
    std::string file;             // of the declaration, empty: not known
    uint32_t line = 0;
};

// One access of an instruction, for naming what it touched.
struct DataAccess {
    uint64_t address = 0;
    uint32_t width = 0;
    uint64_t instruction = 0;   // address of the instruction
    std::vector<uint8_t> code;  // its bytes
    uint64_t base_value = 0;    // of the base register of its operand
    uint64_t frame_address = 0; // canonical frame address, 0: not known
    uint64_t block_start = 0, block_bytes = 0; // of the heap block it lies in, 0: not known
};

// The machine code of one function.
struct FunctionCode {
    uint64_t start = 0; // in the address space of the process
    std::vector<uint8_t> bytes; // a part that the compiler moved elsewhere (.cold) is not among them
    std::string producer;       // the compiler and its options as debug info has them (DW_AT_producer), empty: not known
};

class SourceResolver {
  public:
    virtual ~SourceResolver() = default;

    // The static variable or common block of `module` that `address` lies in. A module has several mappings, of which
    // only the executable ones are in the model: `module` is any one of the right file and process. Modules whose file
    // does not reach to `address` answer quickly. What the access is (0: not known) chooses where the source has
    // several names for one place: unions, equivalences, and common blocks that each unit lays out in its own way.
    virtual std::optional<DataName> name_static(const Module& module, uint64_t address, uint32_t width = 0,
                                                uint64_t instruction = 0) {
        (void)module, (void)address, (void)width, (void)instruction;
        return {};
    }

    // The local variable of the function at access.instruction that access.address lies in.
    virtual std::optional<DataName> name_local(const Module& code, const DataAccess& access) { (void)code, (void)access; return {}; }

    // The member of the structure that the base register of the instruction points to, by the types of the variables
    // that live there.
    virtual std::optional<DataName> name_by_type(const Module& code, const DataAccess& access) { (void)code, (void)access; return {}; }

    // Innermost (most inlined) first, never empty. `address` is in the address space of the process that loaded
    // `module`; callers pass return addresses minus one. Not thread-safe. Never throws: what cannot be resolved
    // comes back as module + offset.
    virtual std::vector<SourceFrame> resolve(const Module& module, uint64_t address) = 0;

    // The same by the linker's symbols alone: one frame, without its line and what was inlined into it. For code whose debug
    // info is large and of no interest, such as the C library's.
    virtual std::vector<SourceFrame> resolve_symbol(const Module& module, uint64_t address) { return resolve(module, address); }

    // The function of another file that the call before the return address `after_call` enters by way of a stub that the linker
    // made: "memcpy". Empty: no such call ends there.
    virtual std::string called_function(const Module& module, uint64_t after_call) { (void)module, (void)after_call; return {}; }

    // What stood in the way so far, one sentence a module: files that are missing, changed since the run, or without
    // debug info. For the report's evidence.
    virtual std::vector<std::string> notes() const { return {}; }

    // Whether lines of `file`, as a frame or a name calls it, may be shown. Debug info is foreign: it can name any file
    // of the reader's as a source.
    virtual bool may_show(const std::string& file) const { (void)file; return false; }

    // The function whose code holds `address`. Nothing: its file is not here, is of another processor than x86-64, or it is not known
    // where the function begins and ends.
    virtual std::optional<FunctionCode> function_code(const Module& module, uint64_t address) { (void)module, (void)address; return {}; }
};

} // namespace plumb::model
