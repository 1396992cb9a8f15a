// What lies at an offset of a variable: the way through structures and arrays down to the member.
#pragma once

#include "model/source_resolver.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <string>

namespace plumb::symbols {

struct Access {
    uint64_t offset = 0; // of its first byte within the variable
    uint32_t width = 0;  // bytes, 0: not known; chooses among the members of unions
};

// Sets member, member_* and holder* and packed of `name`; `member` begins with '.', '%', '[' or '(' as it has to stand
// behind the variable's name, and is empty when the type has no parts or none lies there. Returns how well the access
// fits: 2 when it is one whole scalar, 1 when it begins inside of something known, 0 in nothing known.
// `alias`: what the type is called if it is an unnamed structure.
int describe_member(Dwarf_Die* type, const std::string& alias, Access access, model::DataName& name);

} // namespace plumb::symbols
