#include "diagnoses/common/access_words.h"

#include <fmt/format.h>

namespace plumb {

namespace {

using Kind = TouchedData::Kind;

std::string with_member(const TouchedData& data, const std::string& object) {
    if (data.member.empty())
        return fmt::format("{} (offset {})", object, data.offset);
    return fmt::format("{} member {} (offset {})", object, data.member, data.member_offset);
}

std::string allocation_words(const TouchedData& data) {
    const std::string block = data.name.empty() ? "a heap block" : "the block allocated at " + data.name;
    if (data.structure.empty())
        return fmt::format("{} (offset {})", block, data.offset);
    if (data.member.empty())
        return fmt::format("{} in {}", data.structure, block);
    return fmt::format("{} in {}", with_member(data, data.structure), block);
}

} // namespace

std::string access_words(const model::AccessKind& kind, bool many) {
    const char* s = many ? "s" : "";
    const std::string access = many ? "accesses" : "access";
    if (kind.locked)
        return fmt::format("locked {}-byte {}", kind.width, access);
    if (kind.stack)
        return fmt::format("{}-byte stack {}", kind.width, access);
    const std::string what = kind.load && kind.store ? fmt::format("load{} and store{}", s, s)
                             : kind.store            ? fmt::format("store{}", s)
                             : kind.load             ? fmt::format("load{}", s)
                                                     : access;
    if (kind.string)
        return fmt::format("string {} of {}-byte elements", what, kind.width);
    return fmt::format("{}-byte {}{}", kind.width, kind.packed ? "vector " : "", what);
}

const char* access_preposition(const model::AccessKind& kind) {
    return kind.store && !kind.load ? "to" : "of";
}

std::string object_words(const TouchedData& data) {
    switch (data.kind) {
    case Kind::variable:
        return with_member(data, "variable " + data.name);
    case Kind::common_block:
        return with_member(data, "common block " + data.name);
    case Kind::stack_variable:
        return with_member(data, "stack variable " + data.name);
    case Kind::structure:
        return data.member.empty() ? data.name : with_member(data, data.name);
    case Kind::allocation:
        return allocation_words(data);
    case Kind::unknown:
        break;
    }
    return "unnamed memory";
}

std::string grouped(uint64_t count) {
    std::string digits = std::to_string(count);
    for (size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

} // namespace plumb
