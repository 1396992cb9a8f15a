// Why an access is unaligned, from what is known of the data: each cause, and what is not blamed.
#include "analyses/accesses/why_unaligned.h"
#include "diagnoses/common/access_words.h"

#include <catch2/catch.hpp>

using namespace plumb;
using Catch::Contains;
using Cause = Misalignment::Cause;
using Kind = TouchedData::Kind;

namespace {

constexpr model::AccessKind kLoad8{.width = 8, .load = true};

TouchedData in_common(uint64_t member_offset, uint32_t alignment) {
    TouchedData data;
    data.kind = Kind::common_block;
    data.name = "/pair/";
    data.member = "x";
    data.start = 0x600000;
    data.member_offset = member_offset;
    data.member_alignment = alignment;
    data.offset = member_offset;
    return data;
}

TouchedData block(uint64_t start, uint64_t offset) {
    TouchedData data;
    data.kind = Kind::allocation;
    data.name = "io.c:12";
    data.start = start;
    data.offset = offset;
    return data;
}

} // namespace

TEST_CASE("a member of a common block that narrower ones push off its boundary") {
    const Misalignment real8 = why_unaligned(in_common(4, 8), kLoad8, 0x600004);
    CHECK(real8.cause == Cause::common_block);
    CHECK(real8.why == "the common block puts x at offset 4, which is not a multiple of 8");
    REQUIRE(real8.advice.size() == 2);
    CHECK_THAT(real8.advice[0].how, Contains("common /pair/ x, ..."));
    CHECK_THAT(real8.advice[1].what, Contains("4 more bytes before x"));
    // Declared real*4, handed to a routine that takes real*8: the block's order cures it all the same.
    CHECK(why_unaligned(in_common(4, 4), kLoad8, 0x600004).cause == Cause::common_block);
    // At offset 8 the order is right; the odd access inside is a cast.
    CHECK(why_unaligned(in_common(8, 4), kLoad8, 0x60000c).cause == Cause::cast);
    CHECK_THAT(why_unaligned(in_common(10, 8), kLoad8, 0x60000a).advice[1].what, Contains("6 more bytes"));
}

TEST_CASE("a member of a packed structure") {
    TouchedData data = block(0x5000, 18);
    data.structure = "struct record";
    data.member = "weight";
    data.member_offset = 5;
    data.member_alignment = 8;
    data.packed = true;
    const Misalignment found = why_unaligned(data, kLoad8, 0x5012);
    CHECK(found.cause == Cause::packed_structure);
    CHECK(found.why == "struct record is packed: weight lies at offset 5, 3 bytes before the next multiple of 8");
    CHECK_THAT(found.advice[0].how, Contains("at offset 8"));
    // In its place, but elements follow each other at 13 bytes.
    data.member_offset = 0;
    CHECK_THAT(why_unaligned(data, kLoad8, 0x500d).why, Contains("may begin at any address"));
}

TEST_CASE("odd offsets, allocators, casts") {
    const Misalignment odd = why_unaligned(block(0x5000, 3), kLoad8, 0x5003);
    CHECK(odd.cause == Cause::odd_offset);
    CHECK_THAT(odd.why, Contains("io.c:12") && Contains("offset 3 into"));
    CHECK(why_unaligned(block(0x5004, 16), kLoad8, 0x5014).cause == Cause::allocator);
    TouchedData buffer;
    buffer.kind = Kind::variable;
    buffer.name = "buffer";
    buffer.type = "char[64]";
    buffer.start = 0x6001;
    buffer.declared = "io.c:3";
    const Misalignment cast = why_unaligned(buffer, kLoad8, 0x6001);
    CHECK(cast.cause == Cause::cast);
    CHECK_THAT(cast.why, Contains("declared as char[64]") && Contains("1 bytes behind a multiple of 8"));
    CHECK_THAT(cast.advice[0].how, Contains("alignas(8)") && Contains("at io.c:3"));
    buffer.start = 0x6000;
    buffer.offset = 3;
    CHECK(why_unaligned(buffer, kLoad8, 0x6003).cause == Cause::odd_offset);
}

TEST_CASE("the stack pointer; nothing known; widths that are no power of two") {
    const model::AccessKind push{.width = 8, .store = true, .stack = true};
    CHECK(why_unaligned({}, push, 0x7fff0001).cause == Cause::stack_pointer);
    CHECK(why_unaligned({}, kLoad8, 0x7001).cause == Cause::unknown);
    CHECK(why_unaligned({}, {.width = 1, .load = true}, 0x7001).cause == Cause::unknown);
    const model::AccessKind x87{.width = 10, .load = true};
    CHECK_THAT(why_unaligned(block(0x5000, 10), x87, 0x500a).why, Contains("offset 10 into the block allocated at io.c:12 is not a multiple of 8"));
}

TEST_CASE("words for accesses and objects") {
    CHECK(access_words(kLoad8) == "8-byte load");
    CHECK(access_words({.width = 4, .load = true, .store = true}, true) == "4-byte loads and stores");
    CHECK(access_words({.width = 4, .load = true, .store = true, .locked = true}) == "locked 4-byte access");
    CHECK(access_words({.width = 16, .store = true, .packed = true}) == "16-byte vector store");
    CHECK(object_words(in_common(4, 8)) == "common block /pair/ member x (offset 4)");
    CHECK(object_words(block(0x5000, 3)) == "the block allocated at io.c:12 (offset 3)");
    TouchedData record = block(0x5000, 18);
    record.structure = "struct record";
    record.member = "weight";
    record.member_offset = 5;
    CHECK(object_words(record) == "struct record member weight (offset 5) in the block allocated at io.c:12");
    CHECK(object_words({}) == "unnamed memory");
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'000'000) == "1,000,000");
}
