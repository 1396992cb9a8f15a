// A64 instructions, as Debian's assembler encodes them, and what is made of them.
#include "platform/code/a64_instruction.h" // of the shim
#include "record/access/code/a64_code.h"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace plumb;
using shim::IndexPart;
using shim::MemoryInstruction;
using shim::MemoryOperand;

namespace {

uint32_t bit(int number) { return 1u << number; }

MemoryInstruction decoded(uint32_t word) {
    MemoryInstruction instruction;
    REQUIRE(shim::a64::decode(word, &instruction));
    CHECK(instruction.length == 4);
    return instruction;
}

struct Expected {
    int base, index, scale, width;
    int64_t displacement;
    int base_step;
    uint32_t overwritten;
};

void check_operand(uint32_t word, bool load, bool store, const Expected& expected) {
    CAPTURE(word);
    const MemoryInstruction instruction = decoded(word);
    REQUIRE(instruction.operand_count == 1);
    const MemoryOperand& operand = instruction.operands[0];
    CHECK(operand.load == load);
    CHECK(operand.store == store);
    CHECK(operand.base == expected.base);
    CHECK(operand.index == expected.index);
    CHECK(operand.scale == expected.scale);
    CHECK(operand.width == expected.width);
    CHECK(operand.displacement == expected.displacement);
    CHECK(operand.base_step == expected.base_step);
    CHECK(instruction.overwritten == expected.overwritten);
    CHECK_FALSE(instruction.branch);
}

} // namespace

TEST_CASE("loads of A64 are described with their addresses") {
    check_operand(0xf9400020, true, false, {1, -1, 0, 8, 0, 0, bit(0)});              // ldr x0, [x1]
    check_operand(0xb8404c62, true, false, {3, -1, 0, 4, 4, 4, bit(2) | bit(3)});     // ldr w2, [x3, #4]!
    check_operand(0xfc408400, true, false, {0, -1, 0, 8, 0, 8, bit(0)});              // ldr d0, [x0], #8
    check_operand(0xb8a3d841, true, false, {2, 3, 4, 4, 0, 0, bit(1)});               // ldrsw x1, [x2, w3, sxtw #2]
    check_operand(0x3ce37841, true, false, {2, 3, 16, 16, 0, 0, 0});                  // ldr q1, [x2, x3, lsl #4]
    check_operand(0xa8c27bfd, true, false, {31, -1, 0, 16, 0, 32, bit(29) | bit(30) | bit(31)}); // ldp x29, x30, [sp], #32
    check_operand(0x397ffc20, true, false, {1, -1, 0, 1, 4095, 0, bit(0)});           // ldrb w0, [x1, #4095]
    check_operand(0xf85f8107, true, false, {8, -1, 0, 8, -8, 0, bit(7)});             // ldur x7, [x8, #-8]
    check_operand(0x88dffc83, true, false, {4, -1, 0, 4, 0, 0, bit(3)});              // ldar w3, [x4]
    check_operand(0x4cdfa000, true, false, {0, -1, 0, 32, 0, 32, bit(0)});            // ld1 {v0.16b, v1.16b}, [x0], #32
    check_operand(0x4cc57000, true, false, {0, -1, 0, 16, 0, 0, bit(0)});             // ld1 {v0.16b}, [x0], x5
    check_operand(0x4d408462, true, false, {3, -1, 0, 8, 0, 0, 0});                   // ld1 {v2.d}[1], [x3]
    CHECK(decoded(0xb8a3d841).operands[0].index_part == IndexPart::low_signed);
    CHECK(decoded(0x3ce37841).vector);
    CHECK_FALSE(decoded(0xfc408400).vector);
}

TEST_CASE("stores and atomic accesses of A64 are described with their addresses") {
    check_operand(0xf81f0ffe, false, true, {31, -1, 0, 8, -16, -16, bit(31)}); // str x30, [sp, #-16]!
    check_operand(0x6d0427e8, false, true, {31, -1, 0, 16, 64, 0, 0});         // stp d8, d9, [sp, #64]
    check_operand(0x781fe0c5, false, true, {6, -1, 0, 2, -2, 0, 0});           // sturh w5, [x6, #-2]
    check_operand(0x889ffc83, false, true, {4, -1, 0, 4, 0, 0, 0});            // stlr w3, [x4]
    check_operand(0xc8027c20, false, true, {1, -1, 0, 8, 0, 0, bit(2)});       // stxr w2, x0, [x1]
    check_operand(0xc8a07c41, true, true, {2, -1, 0, 8, 0, 0, bit(0)});        // cas x0, x1, [x2]
    check_operand(0xb8210040, true, true, {2, -1, 0, 4, 0, 0, bit(0)});        // ldadd w1, w0, [x2]
    check_operand(0xf82380a4, true, true, {5, -1, 0, 8, 0, 0, bit(4)});        // swp x3, x4, [x5]
    for (const uint32_t locked : {0xc85f7c20u, 0xc8027c20u, 0xc8a07c41u, 0xb8210040u, 0xf82380a4u})
        CHECK(decoded(locked).locked);
    CHECK_FALSE(decoded(0x88dffc83).locked);
}

TEST_CASE("no address is reported of what general registers do not make") {
    CHECK(decoded(0xf9808000).operand_count == 0);  // prfm pldl1keep, [x0, #256]
    CHECK(decoded(0x58000100).operand_count == 0);  // ldr x0, from a constant distance
    CHECK(decoded(0x58000100).overwritten == bit(0));
    CHECK(decoded(0xd50b7420).gather);              // dc zva, x0
    CHECK(decoded(0xa5e04020).gather);              // ld1d {z0.d}, p0/z, [x1, x0, lsl #3]
    CHECK(decoded(0xf8200420).gather);              // ldraa x0, [x1]
    MemoryInstruction none;
    CHECK_FALSE(shim::a64::decode(0, &none));
}

TEST_CASE("an address is made of the part of the index that counts") {
    if (!shim::kIndexMayBePart)
        return;
    shim::Registers registers{};
    registers[2] = 0x1000;
    registers[3] = 0xffff'fffe; // as 32 bits: -2
    CHECK(shim::operand_address(decoded(0xb8a3d841).operands[0], registers, 0) == 0x1000 - 8);
}

TEST_CASE("general registers that A64 instructions change") {
    const auto changed = [](uint32_t word) { return decoded(word).overwritten; };
    CHECK(changed(0x91002000) == bit(0));       // add x0, x0, #8
    CHECK(changed(0x910083ff) == bit(31));      // add sp, sp, #32
    CHECK(changed(0x71000441) == bit(1));       // subs w1, w2, #1
    CHECK(changed(0xeb04007f) == 0);            // cmp x3, x4
    CHECK(changed(0xea04009f) == 0);            // tst x4, x4
    CHECK(changed(0x9b020c20) == bit(0));       // madd x0, x1, x2, x3
    CHECK(changed(0x9e660020) == bit(0));       // fmov x0, d1
    CHECK(changed(0x9e670001) == 0);            // fmov d1, x0
    CHECK(changed(0x1e780020) == bit(0));       // fcvtzs w0, d1
    CHECK(changed(0x0e073c41) == bit(1));       // umov w1, v2.b[3]
    CHECK(changed(0xd53be040) == bit(0));       // mrs x0, cntvct_el0
    CHECK(changed(0xfa411800) == 0);            // ccmp x0, #1, #0, ne
    CHECK((changed(0x94000010) & bit(30)) != 0); // bl
}

TEST_CASE("jumps of A64") {
    using record::a64::is_call;
    using record::a64::jump_at;
    CHECK(jump_at(0x1000, 0x17fffffe).target == 0xff8); // b .-8
    CHECK_FALSE(jump_at(0x1000, 0x17fffffe).conditional);
    CHECK(jump_at(0x1000, 0x54ffff81).target == 0xff0); // b.ne .-16
    CHECK(jump_at(0x1000, 0x54ffff81).conditional);
    CHECK(jump_at(0x1000, 0x35000063).target == 0x100c); // cbnz w3, .+12
    CHECK(jump_at(0x1000, 0x361fffe4).target == 0xffc);  // tbz w4, #3, .-4
    CHECK(record::a64::register_looked_at(0x35000063) == 3);
    CHECK(record::a64::register_looked_at(0x54ffff81) == -1);
    for (const uint32_t word : {0x94000010u, 0xd63f0100u}) { // bl, blr
        CHECK(jump_at(0x1000, word).target == 0);
        CHECK(is_call(word));
        CHECK(decoded(word).branch);
    }
    CHECK_FALSE(is_call(0xd65f03c0)); // ret
    CHECK(decoded(0xd65f03c0).branch);
    CHECK(decoded(0xd4000001).branch); // svc #0
    CHECK_FALSE(decoded(0xd503201f).branch); // nop
}

TEST_CASE("steps of registers that loops of A64 count and walk with") {
    using record::RegisterStep;
    const auto step = [](uint32_t word) { return record::a64::register_step(word); };
    const RegisterStep add = step(0x91002000); // add x0, x0, #8
    CHECK((add.changed == 0 && add.value.first == 0 && add.value.constant == 8 && !add.value.narrow));
    CHECK(add.flags == RegisterStep::Flags::kept);
    const RegisterStep subtract = step(0x71000441); // subs w1, w2, #1
    CHECK((subtract.changed == 1 && subtract.value.first == 2 && subtract.value.constant == -1 && subtract.value.narrow));
    CHECK((subtract.flags == RegisterStep::Flags::set && subtract.compared.constant == -1));
    const RegisterStep compare = step(0xeb04007f); // cmp x3, x4
    CHECK((compare.changed == -1 && compare.flags == RegisterStep::Flags::set));
    CHECK((compare.compared.first == 3 && compare.compared.second == 4 && compare.compared.second_factor == -1));
    CHECK((step(0xaa0603e5).changed == 5 && step(0xaa0603e5).value.first == 6));         // mov x5, x6
    CHECK((step(0xd2800547).changed == 7 && step(0xd2800547).value.constant == 42));     // mov x7, #42
    CHECK((step(0x92800008).changed == 8 && step(0x92800008).value.constant == -1));     // mov x8, #-1
    CHECK(step(0xf2a00028).changed == -1);                                               // movk x8, #1, lsl #16
    CHECK((step(0xd37df149).changed == 9 && step(0xd37df149).value.first_factor == 8));  // lsl x9, x10, #3
    CHECK((step(0x93407d8b).changed == 11 && step(0x93407d8b).sign_extended));           // sxtw x11, w12
    CHECK((step(0x8b030c41).changed == 1 && step(0x8b030c41).value.second_factor == 8)); // add x1, x2, x3, lsl #3
    CHECK(step(0x8b23c041).changed == -1);                                               // add x1, x2, w3, sxtw
    CHECK(step(0xea04009f).compared.first == 4);                                         // tst x4, x4
    CHECK((step(0x35000063).flags == RegisterStep::Flags::set && step(0x35000063).compared.first == 3)); // cbnz w3
    CHECK((step(0xfc408400).changed == 0 && step(0xfc408400).value.constant == 8));      // ldr d0, [x0], #8
    CHECK(step(0xfa411800).flags == RegisterStep::Flags::unknown);                       // ccmp
    CHECK(step(0x1e612000).flags == RegisterStep::Flags::unknown);                       // fcmp d0, d1
    CHECK(step(0x9a820020).flags == RegisterStep::Flags::kept);                          // csel
}

TEST_CASE("registers that instructions of A64 take and give") {
    record::RegisterUse use;
    const auto use_of = [&](uint32_t word) {
        REQUIRE(record::a64::decode_register_use(word, &use));
        return use;
    };
    CHECK((use_of(0x8b030c41).taken == (bit(2) | bit(3)) && use.given == bit(1)));          // add x1, x2, x3, lsl #3
    CHECK((use_of(0x9b020c20).taken == (bit(1) | bit(2) | bit(3)) && use.given == bit(0))); // madd x0, x1, x2, x3
    CHECK((use_of(0xd2800547).taken == 0 && use.given == bit(7)));                          // mov x7, #42
    CHECK((use_of(0xf2a00028).given == 0 && use.kept == bit(8)));                           // movk x8, #1, lsl #16
    CHECK((use_of(0xf9400020).taken == bit(1) && use.given == bit(0)));                     // ldr x0, [x1]
    CHECK((use_of(0x781fe0c5).taken == (bit(5) | bit(6)) && use.given == 0));               // sturh w5, [x6, #-2]
    CHECK((use_of(0xc8a07c41).compares_and_swaps && use.taken == (bit(0) | bit(1) | bit(2)))); // cas x0, x1, [x2]
    CHECK((use_of(0xf82380a4).swaps && use.taken & bit(3)));                                // swp x3, x4, [x5]
    CHECK((use_of(0xd503203f).pause && !use.other_state));                                  // yield
    CHECK(use_of(0xd53be040).other_state);                                                  // mrs x0, cntvct_el0
    CHECK(use_of(0xc85f7c20).other_state);                                                  // ldxr x0, [x1]
    CHECK((use_of(0x35000063).taken == bit(3) && use.given == 0));                          // cbnz w3
}
