// How an access moves from round to round: instructions that step registers, and loops made by hand.
#include "needs_decoder.h"
#include "record/access/loops/loop_path.h"

#include <catch2/catch.hpp>
#include <plumb/trace_format.h>

using namespace plumb;
using namespace plumb::record;
using Bytes = std::vector<uint8_t>;
using Flags = RegisterStep::Flags;

#if defined(__x86_64__)

namespace {

struct Sampled {
    std::shared_ptr<const LoopPath> path;
    shim::Registers registers{};
    std::optional<LoopMove> move() const { return path ? path->move(registers) : std::nullopt; }
};

Sampled sample(const Bytes& code, uint64_t offset) {
    const CodeRegion region = CodeRegion::from_boundary(kStart, code);
    Sampled sampled;
    sampled.path = LoopPath::follow(region, kStart + offset, plan_access(region, kStart + offset));
    return sampled;
}

// addsd (%rax),%xmm0; add $0x4000,%rax; cmp %rdx,%rax; jne back; ret
const Bytes kColumn = {0xf2, 0x0f, 0x58, 0x00, 0x48, 0x05, 0x00, 0x40, 0x00, 0x00,
                       0x48, 0x39, 0xd0, 0x75, 0xf1, 0xc3};

} // namespace

TEST_CASE("steps of registers") {
    NEEDS_DECODER();
    const auto step = [](const Bytes& bytes) { return register_step(bytes); };
    RegisterStep add = step({0x48, 0x05, 0x00, 0x40, 0x00, 0x00}); // add $0x4000,%rax
    CHECK(add.changed == 0);
    CHECK(add.value.first == 0);
    CHECK(add.value.constant == 0x4000);
    CHECK_FALSE(add.value.narrow);
    CHECK(add.flags == Flags::set);
    RegisterStep subtract = step({0x4d, 0x29, 0xc8}); // sub %r9,%r8
    CHECK(subtract.changed == 8);
    CHECK(subtract.value.second == 9);
    CHECK(subtract.value.second_factor == -1);
    RegisterStep address = step({0x4a, 0x8d, 0x7c, 0xee, 0xf8}); // lea -8(%rsi,%r13,8),%rdi
    CHECK(address.changed == 5);
    CHECK(address.value.first == 4);
    CHECK(address.value.second == 13);
    CHECK(address.value.second_factor == 8);
    CHECK(address.value.constant == -8);
    CHECK(address.flags == Flags::kept);
    RegisterStep compare = step({0x39, 0xd1}); // cmp %edx,%ecx
    CHECK(compare.changed == -1);
    CHECK(compare.flags == Flags::set);
    CHECK(compare.compared.narrow);
    CHECK(compare.compared.first == 2);
    CHECK(compare.compared.second == 1);
    CHECK(step({0xff, 0xc9}).value.constant == -1); // dec %ecx
    CHECK(step({0x31, 0xc0}).changed == 0);         // xor %eax,%eax
    CHECK(step({0x31, 0xc0}).value.first == -1);
    CHECK(step({0x48, 0xc1, 0xe2, 0x03}).value.first_factor == 8); // shl $3,%rdx
    CHECK(step({0x48, 0x63, 0xc8}).sign_extended);                 // movslq %eax,%rcx
    CHECK(step({0x48, 0x69, 0xc0, 0x08, 0x40, 0, 0}).value.first_factor == 0x4008); // imul $0x4008,%rax,%rax
    // Others change what they change in unknown ways; some leave the flags alone.
    CHECK(step({0x48, 0x03, 0x07}).changed == -1); // add (%rdi),%rax
    CHECK(step({0x48, 0x03, 0x07}).flags == Flags::unknown);
    CHECK(step({0xf2, 0x0f, 0x58, 0x00}).flags == Flags::kept); // addsd (%rax),%xmm0
    CHECK(step({0xc5, 0xfb, 0x58, 0x00}).flags == Flags::kept); // vaddsd
    CHECK(step({0x66, 0x0f, 0x2f, 0xc1}).flags == Flags::unknown); // comisd
    CHECK(step({0x66, 0x01, 0xc8}).changed == -1); // add %cx,%ax: a part of the register
    CHECK(step({0x48, 0x81, 0xc0, 0x00}).changed == -1); // cut off
    CHECK(step({0xff, 0xe0}).flags == Flags::kept);      // jmp *%rax
    CHECK(step({0xe8, 0, 0, 0, 0}).flags == Flags::unknown); // call
    CHECK(step({0x44, 0x0f, 0xaf, 0xc2}).mixed == (1u << 8 | 1u << kRdx)); // imul %edx,%r8d
    CHECK(step({0x0f, 0xb6, 0xc4}).mixed == 1u << kRax); // movzbl %ah,%eax
    CHECK(step({0x48, 0x89, 0xd0}).mixed == 0);          // mov %rdx,%rax
    CHECK(step({}).changed == -1);
    CHECK(step({0x66}).changed == -1);
}

TEST_CASE("what a later jump goes back over is in a loop") {
    NEEDS_DECODER();
    // nop; addsd (%rax),%xmm0; jne back to it; nop; jmp to the first nop; ret
    const Bytes nested = {0x90, 0xf2, 0x0f, 0x58, 0x00, 0x75, 0xfa, 0x90, 0xeb, 0xf6, 0xc3};
    const CodeRegion region = CodeRegion::from_boundary(kStart, nested);
    for (const uint64_t offset : {0, 1, 5, 7, 8})
        CHECK(region.is_in_loop(kStart + offset));
    CHECK_FALSE(region.is_in_loop(kStart + 10));
    CHECK_FALSE(region.is_in_loop(kStart - 1));
    const CodeRegion straight = CodeRegion::from_boundary(kStart, {0x90, 0x75, 0x01, 0x90, 0xc3}); // jumps ahead only
    for (const uint64_t offset : {0, 1, 3, 4})
        CHECK_FALSE(straight.is_in_loop(kStart + offset));
}

TEST_CASE("a loop that steps a pointer by a constant") {
    NEEDS_DECODER();
    for (const uint64_t offset : {0, 4}) {
        Sampled sampled = sample(kColumn, offset);
        sampled.registers[kRax] = 0x100000;
        sampled.registers[kRdx] = 0x100000 + 100 * 0x4000;
        const auto move = sampled.move();
        REQUIRE(move);
        CHECK(move->stride == 0x4000);
        CHECK(move->to_come == 100);
        CHECK_FALSE(move->stored);
    }
    // At the comparison the pointer stands at the next element.
    Sampled sampled = sample(kColumn, 10);
    sampled.registers[kRax] = 0x100000;
    sampled.registers[kRdx] = 0x100000 + 100 * 0x4000;
    REQUIRE(sampled.move());
    CHECK(sampled.move()->to_come == 101);
    // The last round.
    sampled.registers[kRdx] = 0x100000;
    CHECK(sampled.move()->to_come == 1);
}

TEST_CASE("a loop that steps an index by a register, counts down, and writes what it reads") {
    NEEDS_DECODER();
    // movsd (%rsi,%rax,8),%xmm0; mulsd %xmm1,%xmm0; movsd %xmm0,(%rsi,%rax,8); add %rdx,%rax; sub $1,%ecx; jne back; ret
    const Bytes code = {0xf2, 0x0f, 0x10, 0x04, 0xc6, 0xf2, 0x0f, 0x59, 0xc1, 0xf2, 0x0f, 0x11, 0x04, 0xc6,
                        0x48, 0x01, 0xd0, 0x83, 0xe9, 0x01, 0x75, 0xea, 0xc3};
    Sampled sampled = sample(code, 5);
    sampled.registers[kRsi] = 0x200000;
    sampled.registers[kRax] = 7;
    sampled.registers[kRdx] = 2048;
    sampled.registers[kRcx] = 0xffffffff00000000 + 50; // the counter is its lower half
    const auto move = sampled.move();
    REQUIRE(move);
    CHECK(move->stride == 16384);
    CHECK(move->to_come == 50);
    CHECK(move->stored);
    sampled.registers[kRdx] = static_cast<uint64_t>(-2048); // backwards
    CHECK(sampled.move()->stride == -16384);
}

TEST_CASE("an unrolled loop's copies make one walk") {
    NEEDS_DECODER();
    // addsd (%rax),%xmm0; addsd 0x4000(%rax),%xmm0; add $0x8000,%rax; cmp %rdx,%rax; jne back; ret
    const Bytes code = {0xf2, 0x0f, 0x58, 0x00, 0xf2, 0x0f, 0x58, 0x80, 0x00, 0x40, 0x00, 0x00,
                        0x48, 0x05, 0x00, 0x80, 0x00, 0x00, 0x48, 0x39, 0xd0, 0x75, 0xe9, 0xc3};
    Sampled sampled = sample(code, 4);
    sampled.registers[kRax] = 0x100000;
    sampled.registers[kRdx] = 0x100000 + 64 * 0x4000;
    const auto move = sampled.move();
    REQUIRE(move);
    CHECK(move->stride == 0x4000);
    CHECK(move->to_come == 64);
}

TEST_CASE("accesses that wait for the one before, and those that do not") {
    NEEDS_DECODER();
    const auto chases = [](const Bytes& code, uint64_t offset) {
        const Sampled sampled = sample(code, offset);
        REQUIRE(sampled.path);
        CHECK_FALSE(sampled.move());
        return sampled.path->chases();
    };
    // A list whose link is not what was sampled: addsd 8(%rdi),%xmm0; mov (%rdi),%rdi; dec %rsi; jne back; ret
    CHECK(chases({0xf2, 0x0f, 0x58, 0x47, 0x08, 0x48, 0x8b, 0x3f, 0x48, 0xff, 0xce, 0x75, 0xf3, 0xc3}, 0));
    // A gather: mov (%rsi,%rax,8),%rcx; addsd (%rdi,%rcx,8),%xmm0; inc %rax; dec %r9; jne back; ret
    const Bytes gather = {0x48, 0x8b, 0x0c, 0xc6, 0xf2, 0x0f, 0x58, 0x04, 0xcf, 0x48, 0xff,
                          0xc0, 0x49, 0xff, 0xc9, 0x75, 0xef, 0xc3};
    CHECK_FALSE(chases(gather, 9));
    // The index goes through the same table: mov (%rdi,%rcx,8),%rcx; dec %rsi; jne back; ret
    CHECK(chases({0x48, 0x8b, 0x0c, 0xcf, 0x48, 0xff, 0xce, 0x75, 0xf7, 0xc3}, 0));
    // What was loaded is mixed into the next index: mov (%rdi,%rcx,8),%rax; xor %rax,%rcx; dec %rsi; jne back; ret
    CHECK(chases({0x48, 0x8b, 0x04, 0xcf, 0x48, 0x31, 0xc1, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3}, 4));
    // The next index is calculated: mov (%rdi,%rcx,8),%rax; imul %rdx,%rcx; dec %rsi; jne back; ret
    CHECK_FALSE(chases({0x48, 0x8b, 0x04, 0xcf, 0x48, 0x0f, 0xaf, 0xca, 0x48, 0xff, 0xce, 0x75, 0xf3, 0xc3}, 4));
}

TEST_CASE("what is no walk") {
    NEEDS_DECODER();
    Sampled sampled = sample({0x48, 0x8b, 0x07, 0xc3}, 0); // no loop: mov (%rdi),%rax; ret
    CHECK_FALSE(sampled.path);
    // A chase: mov (%rdi),%rdi; dec %rsi; jne back: the next address comes from memory.
    sampled = sample({0x48, 0x8b, 0x3f, 0x48, 0xff, 0xce, 0x75, 0xf8, 0xc3}, 0);
    sampled.registers[kRsi] = 100;
    CHECK_FALSE(sampled.move());
    REQUIRE(sampled.path);
    CHECK(sampled.path->chases());
    // An address that stays: mov (%rdi),%rax; dec %rsi; jne back
    sampled = sample({0x48, 0x8b, 0x07, 0x48, 0xff, 0xce, 0x75, 0xf8, 0xc3}, 0);
    sampled.registers[kRsi] = 100;
    CHECK_FALSE(sampled.move());
    // A call may change the index, which is in a register that callees may use:
    // mov (%rdi,%rax,8),%rdx; call *%r11; inc %rax; dec %rsi; jne back
    sampled = sample({0x48, 0x8b, 0x14, 0xc7, 0x41, 0xff, 0xd3, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xce, 0x75, 0xf1, 0xc3}, 0);
    CHECK_FALSE(sampled.move());
}

#endif
