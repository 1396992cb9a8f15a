// What lies at an address that was sampled, when nothing but the address and the time are known: a variable, the block
// of an allocation, a stack, a mapping.
#pragma once

#include "analyses/memory/small_blocks.h"
#include "analyses/statements.h"
#include "model/call_paths.h"
#include "model/run.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace plumb {

struct NamedMemory {
    enum class Kind { variable, common_block, allocation, small_blocks, stack, file, mapping, unknown };
    Kind kind = Kind::unknown;
    std::string name;     // "table", "/pair/", "solver.c:17" for an allocation; words for what has no name of its own
    std::string declared; // "file:line" of a variable, empty: not known
    std::string type;     // of a variable, empty: not known
    uint64_t start = 0, bytes = 0; // 0: not known
    bool by_allocator = false;     // of an allocation: by malloc and its like, not mapped by the program itself
    std::vector<SmallBlockSite> allocated_at; // of small blocks: where most of them come from

    const char* subject_kind() const; // as DESIGN calls it
    Subject subject() const;          // of a finding about it
    bool has_name() const { return kind == Kind::variable || kind == Kind::common_block || kind == Kind::allocation; }
    // "`table`", "the memory allocated at solver.c:17", "the stack of the first thread"
    std::string words() const;
};

// Of one process. Variables are looked up once each.
class MemoryNames {
  public:
    MemoryNames(model::CallPaths& paths, size_t process);

    // The blocks of the heap that are not known one by one, with who allocated them.
    NamedMemory heap_blocks();

    // `area`: MemoryTraffic::area; what lived there at some moment of [first_ns, last_ns].
    const NamedMemory& at(uint64_t address, uint32_t area, uint64_t first_ns, uint64_t last_ns, uint32_t width = 0,
                          uint64_t instruction = 0);

  private:
    const NamedMemory* block_at(uint64_t address, uint64_t first_ns, uint64_t last_ns);
    const NamedMemory* variable_at(uint64_t address, uint32_t width, uint64_t instruction);
    const NamedMemory& of_area(uint32_t area);

    model::CallPaths& paths_;
    const size_t process_;
    const model::Memory& memory_;
    std::multimap<uint64_t, const model::LargeBlock*> blocks_; // by start
    uint64_t largest_block_ = 0;
    std::map<const model::LargeBlock*, NamedMemory> named_blocks_;
    std::map<uint64_t, NamedMemory> variables_; // by start
    std::map<uint32_t, NamedMemory> areas_;
    std::optional<std::vector<SmallBlockSite>> small_blocks_; // once they were asked for
};

} // namespace plumb
