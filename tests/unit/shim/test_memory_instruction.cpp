#include "platform/code/memory_instruction.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace plumb::shim;

namespace {

enum Number : int { rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13 };

MemoryInstruction decode(const std::vector<uint8_t>& code) {
    const char* why = "";
    INFO(why);
    REQUIRE(load_decoder(&why));
    MemoryInstruction instruction;
    REQUIRE(decode_memory_instruction(code.data(), code.size(), &instruction));
    CHECK(instruction.length == code.size());
    CHECK(instruction_length(code.data(), code.size()) == code.size());
    return instruction;
}

uint64_t address_with(const MemoryOperand& operand, uint64_t base, uint64_t index, uint64_t segment_base) {
    Registers registers = {};
    if (operand.base != kNoRegister)
        registers[operand.base] = base;
    if (operand.index != kNoRegister)
        registers[operand.index] = index;
    return operand_address(operand, registers, segment_base);
}

} // namespace

TEST_CASE("loads and stores") {
    const MemoryInstruction load = decode({0x8b, 0x47, 0x04}); // mov 4(%rdi), %eax
    REQUIRE(load.operand_count == 1);
    CHECK((load.operands[0].load && !load.operands[0].store));
    CHECK(load.operands[0].width == 4);
    CHECK(load.operands[0].base == rdi);
    CHECK(load.operands[0].displacement == 4);
    CHECK(load.overwritten == 1u << rax);
    CHECK(address_with(load.operands[0], 1000, 0, 0) == 1004);

    const MemoryInstruction store = decode({0x48, 0x89, 0x44, 0xcd, 0xf8}); // mov %rax, -8(%rbp,%rcx,8)
    REQUIRE(store.operand_count == 1);
    CHECK((!store.operands[0].load && store.operands[0].store));
    CHECK(store.operands[0].scale == 8);
    CHECK(store.overwritten == 0);
    CHECK(address_with(store.operands[0], 1000, 3, 0) == 1016);

    const MemoryInstruction both = decode({0x41, 0x01, 0x75, 0x0c}); // add %esi, 12(%r13)
    CHECK((both.operands[0].load && both.operands[0].store));
    CHECK(both.operands[0].base == r13);
    CHECK_FALSE((both.locked || both.string || both.vector || both.branch));
}

TEST_CASE("operands relative to the next instruction and to a segment") {
    const MemoryInstruction relative = decode({0x4c, 0x8b, 0x0d, 0x34, 0x12, 0x00, 0x00}); // mov 0x1234(%rip), %r9
    REQUIRE(relative.operand_count == 1);
    CHECK(relative.operands[0].base == kNextInstruction);
    CHECK(address_with(relative.operands[0], 0x400000, 0, 0) == 0x401234);

    const MemoryInstruction local = decode({0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}); // mov %fs:0x28, %rax
    REQUIRE(local.operand_count == 1);
    CHECK(local.operands[0].segment == Segment::fs);
    CHECK(local.operands[0].base == kNoRegister);
    CHECK(address_with(local.operands[0], 0, 0, 0x7000) == 0x7028);
}

TEST_CASE("the stack") {
    const MemoryInstruction push = decode({0x53}); // push %rbx
    REQUIRE(push.operand_count == 1);
    CHECK((push.operands[0].stack && push.operands[0].store && push.operands[0].width == 8));
    CHECK(address_with(push.operands[0], 1000, 0, 0) == 992);
    CHECK(push.overwritten == 1u << rsp);

    const MemoryInstruction copy = decode({0xff, 0x74, 0x24, 0x08}); // push 8(%rsp)
    REQUIRE(copy.operand_count == 2);
    CHECK((copy.operands[0].load && !copy.operands[0].stack));
    CHECK(address_with(copy.operands[0], 1000, 0, 0) == 1008);
    CHECK((copy.operands[1].store && copy.operands[1].stack));
    CHECK(address_with(copy.operands[1], 1000, 0, 0) == 992);

    const MemoryInstruction half = decode({0x66, 0x50}); // push %ax
    CHECK(address_with(half.operands[0], 1000, 0, 0) == 998);

    const MemoryInstruction pop = decode({0x41, 0x5c}); // pop %r12
    REQUIRE(pop.operand_count == 1);
    CHECK((pop.operands[0].stack && pop.operands[0].load));
    CHECK(address_with(pop.operands[0], 1000, 0, 0) == 1000);
    CHECK(pop.overwritten == (1u << rsp | 1u << r12));

    const MemoryInstruction into = decode({0x8f, 0x44, 0x24, 0x10}); // pop 16(%rsp): of the stack pointer after it
    REQUIRE(into.operand_count == 2);
    CHECK(address_with(into.operands[0], 1000, 0, 0) == 1024);

    const MemoryInstruction call = decode({0xe8, 0x1b, 0, 0, 0});
    REQUIRE(call.operand_count == 1);
    CHECK((call.branch && call.operands[0].stack && call.operands[0].store));
    CHECK(address_with(call.operands[0], 1000, 0, 0) == 992);

    const MemoryInstruction ret = decode({0xc3});
    REQUIRE(ret.operand_count == 1);
    CHECK((ret.branch && ret.operands[0].load));
    CHECK(address_with(ret.operands[0], 1000, 0, 0) == 1000);

    const MemoryInstruction leave = decode({0xc9}); // reads where the frame pointer points to
    REQUIRE(leave.operand_count == 1);
    CHECK((leave.operands[0].stack && leave.operands[0].base == rbp));
    CHECK(leave.overwritten == (1u << rsp | 1u << rbp));
}

TEST_CASE("string instructions") {
    const MemoryInstruction move = decode({0xf3, 0x48, 0xa5}); // rep movsq
    CHECK((move.string && move.repeated));
    REQUIRE(move.operand_count == 2);
    for (const MemoryOperand* operand : {&move.operands[0], &move.operands[1]}) {
        CHECK(operand->width == 8);
        CHECK_FALSE(operand->stack);
        CHECK(operand->base == (operand->store ? rdi : rsi));
    }
    CHECK(move.overwritten == (1u << rcx | 1u << rsi | 1u << rdi));

    const MemoryInstruction scan = decode({0xf2, 0xae}); // repne scasb
    CHECK((scan.string && scan.repeated && scan.operand_count == 1 && scan.operands[0].load));
    const MemoryInstruction fill = decode({0xf3, 0xab}); // rep stosl
    CHECK((fill.string && fill.operands[0].store && fill.operands[0].width == 4));
    CHECK_FALSE(decode({0xa4}).repeated); // movsb
}

TEST_CASE("locked operations") {
    CHECK(decode({0xf0, 0xff, 0x03}).locked);        // lock incl (%rbx)
    CHECK(decode({0x87, 0x02}).locked);              // xchg %eax, (%rdx)
    CHECK_FALSE(decode({0x93}).locked);              // xchg %eax, %ebx
    CHECK_FALSE(decode({0x49, 0x0f, 0xb1, 0x08}).locked); // cmpxchg %rcx, (%r8)
    CHECK(decode({0x49, 0x0f, 0xb1, 0x08}).overwritten == 1u << rax);
}

TEST_CASE("vector accesses") {
    const MemoryInstruction packed = decode({0x0f, 0x10, 0x1e}); // movups (%rsi), %xmm3
    CHECK((packed.vector && packed.operands[0].width == 16));
    const MemoryInstruction scalar = decode({0xf2, 0x0f, 0x10, 0x1e}); // movsd (%rsi), %xmm3
    CHECK((!scalar.vector && scalar.operands[0].width == 8));
    const MemoryInstruction wide = decode({0xc5, 0xfd, 0x10, 0x48, 0x20}); // vmovupd 32(%rax), %ymm1
    CHECK((wide.vector && wide.operands[0].width == 32 && wide.operands[0].displacement == 32));
    const MemoryInstruction gather = decode({0xc4, 0xe2, 0xf5, 0x92, 0x04, 0xd0}); // vgatherdpd
    CHECK((gather.gather && gather.operand_count == 0));
}

TEST_CASE("what touches no memory, or none that can be determined") {
    CHECK(decode({0x66, 0x0f, 0x1f, 0x04, 0x00}).operand_count == 0); // nopw (%rax,%rax)
    CHECK(decode({0x0f, 0x18, 0x08}).operand_count == 0);             // prefetcht0 (%rax)
    CHECK(decode({0x48, 0x8d, 0x58, 0x04}).operand_count == 0);       // lea 4(%rax), %rbx
    CHECK(decode({0x48, 0x0f, 0xa3, 0x03}).operand_count == 0);       // bt %rax, (%rbx): anywhere
    CHECK(decode({0x67, 0x8b, 0x18}).operand_count == 0);             // mov (%eax), %ebx
    CHECK(decode({0xd7}).operand_count == 0);                         // xlat
    CHECK(decode({0x88, 0xe1}).overwritten == 1u << rcx);             // mov %ah, %cl
    CHECK(decode({0x66, 0x45, 0x0f, 0xaf, 0x5a, 0x06}).overwritten == 1u << r11); // imul 6(%r10), %r11w
    CHECK(decode({0xf7, 0x74, 0x24, 0x02}).overwritten == (1u << rax | 1u << rdx)); // divl 2(%rsp)
}

TEST_CASE("branches and broken code") {
    const MemoryInstruction jump = decode({0xff, 0x60, 0x08}); // jmp *8(%rax)
    CHECK((jump.branch && jump.operand_count == 1 && jump.operands[0].load));
    CHECK(decode({0x0f, 0x05}).branch); // syscall
    CHECK(decode({0xeb, 0xfe}).branch);
    CHECK(decode({0xcc}).branch);
    MemoryInstruction instruction;
    const uint8_t cut[] = {0x48, 0x89, 0x44, 0xcd};
    CHECK_FALSE(decode_memory_instruction(cut, sizeof cut, &instruction));
    const uint8_t undefined[] = {0x06, 0x00}; // push %es, which 64-bit code does not have
    CHECK_FALSE(decode_memory_instruction(undefined, sizeof undefined, &instruction));
    CHECK(instruction_length(cut, sizeof cut) == 0);
    CHECK(instruction_length(undefined, sizeof undefined) == 0);
}

TEST_CASE("the length alone is that of the whole instruction") {
    REQUIRE(load_decoder(nullptr));
    uint32_t state = 7;
    unsigned decoded = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        uint8_t code[15];
        for (uint8_t& byte : code) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(state >> 24);
        }
        MemoryInstruction instruction;
        if (decode_memory_instruction(code, sizeof code, &instruction)) {
            ++decoded;
            REQUIRE(instruction_length(code, sizeof code) == instruction.length);
        }
    }
    CHECK(decoded > 5'000);
}
