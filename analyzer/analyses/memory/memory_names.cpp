#include "analyses/memory/memory_names.h"

#include "analyses/lines/line_shares.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

using Kind = NamedMemory::Kind;

const char* NamedMemory::subject_kind() const {
    return kind == Kind::allocation || kind == Kind::small_blocks ? "allocation" : "variable";
}

Subject NamedMemory::subject() const {
    Subject subject{subject_kind(), name, {}};
    if (!type.empty())
        subject.details["type"] = type;
    if (!declared.empty())
        subject.details["declared"] = declared;
    if (!allocated_at.empty()) {
        std::vector<std::string> places;
        for (const SmallBlockSite& site : allocated_at)
            places.push_back(fmt::format("{}, {:.0f} % of the bytes", site.place, 100 * site.share));
        subject.details["allocated_at"] = places;
    }
    return subject;
}

std::string NamedMemory::words() const {
    switch (kind) {
    case Kind::variable:
    case Kind::common_block:
        return "`" + name + "`";
    case Kind::allocation:
        return "the memory allocated at " + name;
    case Kind::small_blocks:
        return allocated_at.empty() ? name
                                    : fmt::format("{} ({:.0f} % of their bytes allocated at {})", name,
                                                  100 * allocated_at.front().share, allocated_at.front().place);
    default:
        return name;
    }
}

MemoryNames::MemoryNames(model::CallPaths& paths, size_t process)
    : paths_(paths), process_(process), memory_(paths.run().processes[process].memory) {
    for (const model::LargeBlock& block : memory_.blocks) {
        blocks_.emplace(block.start, &block);
        largest_block_ = std::max(largest_block_, block.bytes);
    }
}

// Blocks follow one another at the same place; one that lies within another (of a mapping that the program cut up itself)
// is the closer answer, and begins later.
const NamedMemory* MemoryNames::block_at(uint64_t address, uint64_t first_ns, uint64_t last_ns) {
    const model::LargeBlock* found = nullptr;
    for (auto at = blocks_.upper_bound(address); at != blocks_.begin();) {
        --at;
        if (address - at->first >= largest_block_)
            break;
        const model::LargeBlock& block = *at->second;
        if (address - block.start < block.bytes && block.from_ns <= last_ns && block.until_ns >= first_ns) {
            found = &block;
            break;
        }
    }
    if (!found)
        return nullptr;
    const auto [named, is_new] = named_blocks_.try_emplace(found);
    if (is_new) {
        NamedMemory& memory = named->second;
        memory.kind = Kind::allocation;
        memory.start = found->start;
        memory.bytes = found->bytes;
        memory.by_allocator = found->by_allocator;
        const model::SourceFrame frame =
            found->path ? paths_.user_frame(process_, found->path) : model::SourceFrame{};
        memory.name = frame.module.empty() ? "an unknown line"
                                           : place_name({.file = frame.file, .function = frame.function,
                                                         .module = frame.module, .line = frame.line, .share = 0,
                                                         .inlined_from = ""});
    }
    return &named->second;
}

const NamedMemory* MemoryNames::variable_at(uint64_t address, uint32_t width, uint64_t instruction) {
    const auto after = variables_.upper_bound(address);
    if (after != variables_.begin() && address - std::prev(after)->first < std::prev(after)->second.bytes)
        return &std::prev(after)->second;
    const auto name = paths_.static_at(
        process_, {.address = address, .width = width, .instruction = instruction, .code = {}});
    if (!name || name->offset > address)
        return nullptr;
    NamedMemory memory;
    memory.kind = name->kind == model::DataName::Kind::common_block ? Kind::common_block : Kind::variable;
    memory.name = name->name;
    memory.type = name->type;
    if (!name->file.empty())
        memory.declared = name->line ? fmt::format("{}:{}", name->file, name->line) : name->file;
    memory.start = address - name->offset;
    memory.bytes = std::max(name->size, name->offset + 1);
    return &(variables_[memory.start] = std::move(memory));
}

NamedMemory MemoryNames::heap_blocks() {
    if (!small_blocks_)
        small_blocks_ = small_block_sites(paths_, process_);
    NamedMemory memory;
    memory.kind = Kind::small_blocks;
    memory.name = "heap blocks below 1 MiB";
    memory.allocated_at = *small_blocks_;
    return memory;
}

const NamedMemory& MemoryNames::of_area(uint32_t index) {
    const auto [named, is_new] = areas_.try_emplace(index);
    if (!is_new)
        return named->second;
    NamedMemory& memory = named->second;
    if (index >= memory_.areas.size()) {
        memory.name = "memory in an unknown mapping";
        return memory;
    }
    const model::MemoryArea& area = memory_.areas[index];
    memory.start = area.start;
    memory.bytes = area.end - area.start;
    if (area.stack) {
        memory.kind = Kind::stack;
        memory.name = "the stack of the first thread";
    } else if (area.heap) {
        const uint64_t start = memory.start, bytes = memory.bytes;
        memory = heap_blocks();
        memory.start = start;
        memory.bytes = bytes;
    } else if (!area.path.empty()) {
        memory.kind = Kind::file;
        memory.name = area.path;
    } else {
        memory.kind = Kind::mapping; // of an allocator for small blocks, of a thread's stack
        memory.name = "anonymous memory (thread stacks, blocks below 1 MiB)";
    }
    return memory;
}

const NamedMemory& MemoryNames::at(uint64_t address, uint32_t area, uint64_t first_ns, uint64_t last_ns, uint32_t width,
                                   uint64_t instruction) {
    if (const NamedMemory* block = block_at(address, first_ns, last_ns))
        return *block;
    const bool known = area < memory_.areas.size();
    if (!known || !(memory_.areas[area].heap || memory_.areas[area].stack))
        if (const NamedMemory* variable = variable_at(address, width, instruction))
            return *variable;
    return of_area(area);
}

} // namespace plumb
