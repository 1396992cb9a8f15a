#include "record/align/rewriting/jump_choice.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace plumb::shim;

TEST_CASE("a jump over five bytes or more can go anywhere near") {
    const uint8_t code[kJumpWindow] = {0xf2, 0x0f, 0x10, 0x47, 0x08, 0x90};
    JumpChoice choices[kMostJumpChoices];
    REQUIRE(jump_choices(code, 0x555500001000, 5, 0, choices) == 1);
    CHECK(choices[0].prefixes == 0);
    CHECK(choices[0].targets.low == 0x555500001005 - (1ull << 31));
    CHECK(choices[0].targets.high == 0x555500001005 + (1ull << 31));
    uint8_t bytes[16];
    write_jump(choices[0], code, 0x555500001000, 5, 0, 0x555500002000, bytes);
    const uint8_t expected[] = {0xe9, 0xfb, 0x0f, 0, 0};
    CHECK(memcmp(bytes, expected, sizeof expected) == 0);
}

TEST_CASE("the bytes that follow a short instruction say where its jump can go") {
    // mov (%rdi), %rax; then 41 ba ...
    const uint8_t code[kJumpWindow] = {0x48, 0x8b, 0x07, 0x41, 0xba, 0x78, 0x56, 0x34, 0x12};
    JumpChoice choices[kMostJumpChoices];
    REQUIRE(jump_choices(code, 0x555500001000, 3, 0, choices) == 2);
    CHECK(choices[0].prefixes == 0);
    CHECK(choices[0].targets.low == 0x555500001005 - 0x100000000ull + 0xba410000ull);
    CHECK(choices[0].targets.high - choices[0].targets.low == 65536);
    CHECK(choices[1].prefixes == 1);
    CHECK(choices[1].targets.low == 0x555500001006 + 0x78ba4100ull);
    CHECK(choices[1].targets.high - choices[1].targets.low == 256);

    uint8_t whole[kJumpWindow];
    memcpy(whole, code, sizeof whole);
    for (int i = 0; i < 2; ++i) {
        write_jump(choices[i], code, 0x555500001000, 3, 0, choices[i].targets.low + 17, whole);
        int32_t displacement;
        memcpy(&displacement, whole + choices[i].prefixes + 1, sizeof displacement);
        CHECK(whole[choices[i].prefixes] == 0xe9);
        CHECK(0x555500001005 + choices[i].prefixes + static_cast<uint64_t>(static_cast<int64_t>(displacement)) ==
              choices[i].targets.low + 17);
        CHECK(memcmp(whole + 3, code + 3, sizeof code - 3) == 0);
    }
}

TEST_CASE("nothing below the first address, and nothing for one byte") {
    const uint8_t code[kJumpWindow] = {0x8b, 0x07, 0x00, 0x00, 0x90};
    JumpChoice choices[kMostJumpChoices];
    CHECK(jump_choices(code, 0x400000, 2, 0, choices) == 0);
    CHECK(jump_choices(code, 0x555500001000, 2, 0, choices) == 1);
    CHECK(jump_choices(code, 0x555500001000, 1, 0, choices) == 0);
}

TEST_CASE("bytes that another jump relies on stay as they are, if a jump ignores them") {
    const uint8_t scalar[kJumpWindow] = {0xf2, 0x0f, 0x58, 0x47, 0x08, 0x90};
    JumpChoice choices[kMostJumpChoices];
    REQUIRE(jump_choices(scalar, 0x555500001000, 5, 1, choices) >= 1);
    CHECK(choices[0].prefixes == 1);
    uint8_t bytes[16];
    write_jump(choices[0], scalar, 0x555500001000, 5, 1, choices[0].targets.low, bytes);
    CHECK(bytes[0] == 0xf2);
    CHECK(bytes[1] == 0xe9);
    const uint8_t plain[kJumpWindow] = {0x8b, 0x87, 0x08, 0, 0, 0};
    CHECK(jump_choices(plain, 0x555500001000, 6, 1, choices) == 0);
}
