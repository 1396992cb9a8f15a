// Which data object an access touched, from everything that is known about its address.
#pragma once

#include "model/alignment.h"
#include "model/call_paths.h"

#include <cstdint>
#include <string>

namespace plumb {

struct TouchedData {
    enum class Kind { unknown, variable, common_block, stack_variable, structure, allocation };
    Kind kind = Kind::unknown;
    std::string name;      // "table", "/pair/", "struct record" known by its type alone; for a heap block the line that
                           // allocated it; empty: unknown
    std::string structure; // that holds the member: "struct record"; empty: none is known, or it is `name` itself
    std::string member;    // "x", "cells[].weight": without indexes, all elements are one
    std::string type;      // of the variable, empty: not known
    std::string declared;  // "file:line", empty: not known
    uint64_t start = 0;    // address of the variable or block, 0: not known
    uint64_t offset = 0;   // of the access behind it
    uint64_t bytes = 0;    // of the variable or block, 0: not known
    uint64_t member_offset = 0;
    uint32_t member_alignment = 0; // natural alignment of the member's type, 0: not known
    bool packed = false;           // the structure puts the member where its type would not lie

    // What DESIGN calls the subject of a finding.
    const char* subject_kind() const;
    // Equal for accesses of the same member of the same object.
    std::string key() const { return std::to_string(static_cast<int>(kind)) + name + "\n" + structure + "\n" + member; }
};

TouchedData touched_data(model::CallPaths& paths, size_t process, const model::UnalignedSite& site,
                         const model::UnalignedAddress& access);

// Of an address sampled at an instruction, of which nothing else is known.
TouchedData touched_static(model::CallPaths& paths, size_t process, const model::SampledAccess& access);

} // namespace plumb
