// Tells code of the memory allocator: malloc and similar calls, operator new and delete, and what they are made of.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace plumb {

// By its name, wherever it lies: "malloc", "operator new", "_int_free+0x1c". Not "pool::malloc".
bool is_allocator_function(const std::string& function);

// By the file's name: jemalloc, tcmalloc, mimalloc and others that do nothing else.
bool is_allocator_module(const std::string& module);

// Functions that programs put around malloc to check its result: nobody looks for the cause there.
bool is_allocator_wrapper(const std::string& function);

// A function that passes allocation on (sqlite3DbMallocRaw, pool_alloc, lua_newuserdata's l_alloc): its name says so. Whether
// memory is needed is decided by who calls it.
bool passes_allocation_on(const std::string& function);

// Low-level locks of the C library, as its allocator (and stdio) take them.
bool is_private_lock_function(const std::string& function);

class AllocatorCode {
  public:
    explicit AllocatorCode(model::CallPaths& paths) : paths_(paths) {}

    // Whether this node of the call-path tree lies in the allocator.
    bool contains(size_t process, uint32_t node);

    // The innermost node from `node` outwards that does; 0: none.
    uint32_t innermost(size_t process, uint32_t node);

    // The first node outside the allocator on the way out from `node`, wrappers like xmalloc and operator new
    // included in it; 0: the path does not lead out.
    uint32_t caller(size_t process, uint32_t node);

  private:
    bool unnamed_part_of_libc(size_t process, uint64_t address);

    model::CallPaths& paths_;
    std::unordered_map<uint64_t, bool> known_; // process << 32 | node
    std::map<std::pair<std::string, uint64_t>, bool> gaps_; // build id or path, offset in the file / kProbe_bytes
};

} // namespace plumb
