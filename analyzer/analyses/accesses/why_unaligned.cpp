#include "analyses/accesses/why_unaligned.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace plumb {

namespace {

using Cause = Misalignment::Cause;
using Kind = TouchedData::Kind;

// Widths that are no power of two (x87's 10 bytes) want the next smaller one.
uint64_t wanted_alignment(const model::AccessKind& kind) {
    return std::clamp<uint64_t>(std::bit_floor(uint64_t{kind.width}), 1, 64);
}

uint64_t padding_to(uint64_t offset, uint64_t alignment) { return (alignment - offset % alignment) % alignment; }

std::string type_clause(const TouchedData& data) {
    return data.type.empty() ? "" : fmt::format(", declared as {},", data.type);
}

Advice code(const std::string& what, const std::string& how) { return {what, how, "code", ""}; }

Misalignment in_common_block(const TouchedData& data, uint64_t wanted) {
    Misalignment result;
    result.cause = Cause::common_block;
    result.why = fmt::format("the common block puts {} at offset {}, which is not a multiple of {}", data.member,
                             data.member_offset, wanted);
    const uint64_t before = data.member_offset % wanted;
    result.advice = {
        code(fmt::format("Order the members of {} by width", data.name),
             fmt::format("{} first, narrower members behind it: common {} {}, ..., in every unit that declares the block. Only "
                         "members with a width that is a multiple of {} may come before it",
                         data.member, data.name, data.member, wanted)),
        code(fmt::format("Or pad: {} more bytes before {}", padding_to(before, wanted), data.member),
             "an unused variable of that size, in every unit that declares the block")};
    return result;
}

Misalignment in_packed_structure(const TouchedData& data, uint64_t wanted) {
    const std::string& owner = data.structure.empty() ? data.name : data.structure;
    const uint64_t alignment = data.member_alignment ? data.member_alignment : wanted;
    Misalignment result;
    result.cause = Cause::packed_structure;
    const uint64_t padding = padding_to(data.member_offset, alignment);
    if (padding != 0)
        result.why = fmt::format("{} is packed: {} lies at offset {}, {} bytes before the next multiple of {}", owner,
                                 data.member, data.member_offset, padding, alignment);
    else
        result.why = fmt::format("{} is packed: it may begin at any address, so its member {} may lie at one that is not a "
                                 "multiple of {}", owner, data.member, alignment);
    result.advice = {
        code("Order the members by width, the widest first, and do not pack",
             fmt::format("without packing {} would lie at offset {}", data.member, data.member_offset + padding)),
        code("If a file or a message needs this layout: unpack once",
             "copy each record into an ordinary structure (memcpy of each member) when it is read, and compute on that "
             "structure")};
    return result;
}

Misalignment by_cast(const TouchedData& data, const model::AccessKind& kind, uint64_t wanted) {
    const std::string name = data.member.empty() ? data.name : data.member;
    Misalignment result;
    result.cause = Cause::cast;
    if (!data.member.empty() && data.member_alignment != 0)
        result.why = fmt::format("{} needs only multiples of {}, but is accessed {} bytes at a time: through a cast, or as an "
                                 "argument of another type", name, data.member_alignment, kind.width);
    else
        result.why = fmt::format("{}{} begins {} bytes behind a multiple of {}, but is accessed {} bytes at a time: "
                                 "through a cast, or as an argument of another type", name, type_clause(data),
                                 data.start % wanted, wanted, kind.width);
    result.advice = {code(fmt::format("Align {} to {} bytes", name, wanted),
                          fmt::format("alignas({}) or __attribute__((aligned({}))) on its declaration{}; in Fortran, "
                                      "declare it with the type that is used", wanted, wanted,
                                      data.declared.empty() ? "" : " at " + data.declared))};
    return result;
}

Misalignment at_odd_offset(const TouchedData& data, uint64_t wanted) {
    Misalignment result;
    result.cause = Cause::odd_offset;
    const std::string object = data.kind == Kind::allocation
                                   ? data.name.empty() ? "the heap block" : "the block allocated at " + data.name
                                   : data.name;
    result.why = fmt::format("offset {} into {} is not a multiple of {}", data.offset, object, wanted);
    result.advice = {
        code(fmt::format("Keep offsets multiples of {}", wanted),
             fmt::format("a header, a length or a record shifts everything behind it: pad it to a multiple of {}, or round the "
                         "offset up", wanted)),
        code("If a file or a message needs this layout: copy before computing",
             "use memcpy into an aligned variable or array; compilers turn it into one load")};
    return result;
}

Misalignment by_allocator(const TouchedData& data, uint64_t wanted) {
    Misalignment result;
    result.cause = Cause::allocator;
    result.why = fmt::format("the block itself begins {} bytes behind a multiple of {}", data.start % wanted, wanted);
    result.advice = {code(fmt::format("Allocate it with an alignment of {}", wanted),
                          fmt::format("use aligned_alloc, posix_memalign or std::align_val_t{}; the program's own allocator "
                                      "must round its blocks up",
                                      data.name.empty() ? "" : ", at " + data.name))};
    return result;
}

Misalignment by_stack_pointer(const model::AccessKind& kind) {
    Misalignment result;
    result.cause = Cause::stack_pointer;
    result.why = fmt::format("the stack pointer itself was not a multiple of {}", kind.width);
    result.advice = {code("Look for what moves the stack pointer",
                          "assembler, a switch of coroutines, or a stack given to makecontext or clone: it must begin at a "
                          "multiple of 16")};
    return result;
}

} // namespace

const char* to_string(Cause cause) {
    switch (cause) {
    case Cause::packed_structure:
        return "packed structure";
    case Cause::common_block:
        return "common block order";
    case Cause::cast:
        return "cast";
    case Cause::odd_offset:
        return "odd offset";
    case Cause::allocator:
        return "allocator";
    case Cause::stack_pointer:
        return "stack pointer";
    case Cause::unknown:
        break;
    }
    return "unknown";
}

Misalignment why_unaligned(const TouchedData& data, const model::AccessKind& kind, uint64_t address) {
    if (kind.stack)
        return by_stack_pointer(kind);
    const uint64_t wanted = wanted_alignment(kind);
    if (wanted == 1)
        return {};
    if (data.kind == Kind::common_block && !data.member.empty() && data.member_offset % wanted != 0)
        return in_common_block(data, wanted);
    const bool misplaced = data.member_alignment != 0 && data.member_offset % data.member_alignment != 0;
    if (!data.member.empty() && data.kind != Kind::common_block && (data.packed || misplaced))
        return in_packed_structure(data, wanted);
    if (!data.member.empty() && data.member_alignment != 0 && data.member_alignment < wanted)
        return by_cast(data, kind, wanted);
    if (data.start == 0 || data.kind == Kind::unknown || data.kind == Kind::structure)
        return {};
    if (data.kind == Kind::allocation && data.start % wanted != 0 && data.offset % wanted == 0)
        return by_allocator(data, wanted);
    if (data.offset % wanted != 0 && (address - data.start) % wanted != 0 && data.start % wanted == 0)
        return at_odd_offset(data, wanted);
    if (data.kind == Kind::allocation)
        return data.start % wanted != 0 ? by_allocator(data, wanted) : Misalignment{};
    return by_cast(data, kind, wanted);
}

} // namespace plumb
