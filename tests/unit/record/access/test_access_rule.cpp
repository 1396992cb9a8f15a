// Which access a time sample landed behind: instruction boundaries and the rule, on code made by hand.
#include "needs_decoder.h"
#include "record/access/code/access_rule.h"

#include <catch2/catch.hpp>
#include <plumb/trace_format.h>

using namespace plumb;
using namespace plumb::record;

#if defined(__x86_64__)

namespace {

using Bytes = std::vector<uint8_t>;

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

const Bytes kLoadRaxFromRdi = {0x48, 0x8b, 0x07};           // mov (%rdi),%rax
const Bytes kLoadIndexed = {0xf2, 0x0f, 0x10, 0x04, 0xc6};  // movsd (%rsi,%rax,8),%xmm0
const Bytes kStoreIndexed = {0xf2, 0x0f, 0x11, 0x04, 0xc7}; // movsd %xmm0,(%rdi,%rax,8)
const Bytes kAdd = {0xf2, 0x0f, 0x58, 0xc8};                // addsd %xmm0,%xmm1
const Bytes kIncrementRax = {0x48, 0xff, 0xc0};             // inc %rax
const Bytes kChase = {0x48, 0x8b, 0x3f};                    // mov (%rdi),%rdi
const Bytes kDecrementRsi = {0x48, 0xff, 0xce};             // dec %rsi
const Bytes kReturn = {0xc3};
Bytes jump_if_not_zero(int8_t distance) { return {0x75, static_cast<uint8_t>(distance)}; }

AccessPlan plan(const Bytes& code, uint64_t offset) {
    return plan_access(CodeRegion::from_boundary(kStart, code), kStart + offset);
}

} // namespace

TEST_CASE("jumps with a distance are followed") {
    CHECK(jump_at(100, Bytes{0x75, 0xfe}).target == 100);
    CHECK(jump_at(100, Bytes{0x75, 0xfe}).conditional);
    CHECK(jump_at(100, Bytes{0xeb, 0x10}).target == 118);
    CHECK_FALSE(jump_at(100, Bytes{0xeb, 0x10}).conditional);
    CHECK(jump_at(100, Bytes{0xe9, 0, 1, 0, 0}).target == 105 + 256);
    CHECK(jump_at(100, Bytes{0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff}).target == 100);
    CHECK(jump_at(100, Bytes{0xf2, 0x75, 0x00}).target == 103); // bnd jne
    CHECK(jump_at(100, kReturn).target == 0);
    CHECK(jump_at(100, Bytes{0xe8, 0, 0, 0, 0}).target == 0); // a call is no way through the function
    CHECK(jump_at(100, Bytes{0xff, 0xe0}).target == 0);       // jmp *%rax
    CHECK(jump_at(100, Bytes{0xe9, 0, 1}).target == 0);       // cut off
}

TEST_CASE("a sample behind a load is that load's") {
    NEEDS_DECODER();
    const Bytes code = kLoadIndexed + kAdd + kIncrementRax + kReturn;
    const AccessPlan behind = plan(code, 5);
    REQUIRE(behind.kind == AccessPlan::Kind::before);
    CHECK(behind.instruction(kStart + 5) == kStart);
    CHECK(behind.operand.width == 8);
    CHECK(behind.flags == trace::kAlignLoad);
    shim::Registers registers{};
    registers[4] = 0x10000; // rsi
    registers[0] = 3;       // rax
    CHECK(behind.address(kStart + 5, registers) == 0x10018);
    CHECK(plan(code, 9).kind == AccessPlan::Kind::before);
    // Behind the increment the index is no longer what it was; the return is about to load from the stack.
    CHECK(plan(code, 12).kind == AccessPlan::Kind::at);
    CHECK(plan(code, 12).operand.stack);
}

TEST_CASE("a load that overwrites its own address is met again in the next round") {
    NEEDS_DECODER();
    const Bytes code = kChase + kDecrementRsi + jump_if_not_zero(-8) + kReturn;
    const AccessPlan next = plan(code, 3);
    REQUIRE(next.kind == AccessPlan::Kind::ahead);
    CHECK(next.instruction(kStart + 3) == kStart);
    CHECK(next.operand.base == 5); // rdi
}

TEST_CASE("what stands before a loop is not what ran before its head") {
    NEEDS_DECODER();
    // mov (%rdi),%rax stands before the loop; the head is the addition.
    const Bytes code = kLoadRaxFromRdi + kAdd + kStoreIndexed + kIncrementRax + jump_if_not_zero(-14) + kReturn;
    const AccessPlan head = plan(code, 3);
    REQUIRE(head.kind == AccessPlan::Kind::ahead);
    CHECK(head.instruction(kStart + 3) == kStart + 7);
    CHECK(head.flags == trace::kAlignStore);
}

TEST_CASE("branches are not passed backwards, calls not forwards") {
    NEEDS_DECODER();
    const Bytes past = kLoadRaxFromRdi + jump_if_not_zero(1) + kReturn + kAdd + kReturn;
    CHECK(plan(past, 6).kind == AccessPlan::Kind::none);
    const Bytes call = kAdd + Bytes{0xff, 0xd0} + kLoadRaxFromRdi; // call *%rax
    CHECK(plan(call, 0).kind == AccessPlan::Kind::none);
    CHECK(plan(call, 4).operand.stack); // its own push
    CHECK(plan(call, 6).kind == AccessPlan::Kind::at);
}

TEST_CASE("where the registers do not give the address, none is reported") {
    NEEDS_DECODER();
    const Bytes segment = Bytes{0x64, 0x48, 0x8b, 0x07} + kAdd + kLoadIndexed; // mov %fs:(%rdi),%rax
    CHECK(plan(segment, 4).kind == AccessPlan::Kind::none);
    CHECK(plan(segment, 0).kind == AccessPlan::Kind::none);
    const Bytes gather = Bytes{0xc4, 0xe2, 0xed, 0x92, 0x04, 0xcf} + kAdd + kLoadIndexed; // vgatherdpd (%rdi,%xmm1,8)
    CHECK(plan(gather, 6).kind == AccessPlan::Kind::none);
}

TEST_CASE("flags and widths of accesses") {
    NEEDS_DECODER();
    CHECK(plan(Bytes{0x0f, 0x10, 0x07} + kReturn, 0).flags == (trace::kAlignLoad | trace::kAlignPacked)); // movups (%rdi)
    CHECK(plan(Bytes{0x0f, 0x10, 0x07} + kReturn, 0).operand.width == 16);
    const AccessPlan locked = plan(Bytes{0xf0, 0x48, 0x01, 0x07} + kReturn, 0); // lock add %rax,(%rdi)
    CHECK(locked.flags == (trace::kAlignLoad | trace::kAlignStore | trace::kAlignLocked));
    const AccessPlan push = plan(Bytes{0xff, 0x37} + kReturn, 0); // push (%rdi)
    CHECK(push.operand.base == 5);
    CHECK_FALSE(push.operand.stack);
    const AccessPlan relative = plan(Bytes{0x48, 0x8b, 0x05, 0x10, 0, 0, 0} + kAdd, 7); // mov 0x10(%rip),%rax
    REQUIRE(relative.kind == AccessPlan::Kind::before);
    shim::Registers registers{};
    CHECK(relative.address(kStart + 7, registers) == kStart + 7 + 0x10);
}

TEST_CASE("boundaries are found where no beginning is known") {
    NEEDS_DECODER();
    Bytes code;
    for (int i = 0; i < 20; ++i)
        code = code + kLoadIndexed + kAdd + kIncrementRax + Bytes{0x48, 0x81, 0xc7, 0x90, 0x00, 0x0f, 0x05}; // add $...,%rdi
    const size_t middle = 10 * 19 + 5; // behind a load
    for (size_t cut = 0; cut < 12; ++cut) { // wherever the copy begins
        const CodeRegion region = CodeRegion::around(kStart + cut, Bytes(code.begin() + static_cast<long>(cut), code.end()),
                                                     kStart + middle);
        REQUIRE(region.before(kStart + middle) == kStart + middle - 5);
        CHECK(plan_access(region, kStart + middle).kind == AccessPlan::Kind::before);
    }
    // Right behind the beginning of a mapping there is nothing to agree on.
    const CodeRegion short_one = CodeRegion::around(kStart, code, kStart);
    CHECK(short_one.before(kStart) == 0);
    CHECK(short_one.begins_instruction(kStart));
}

TEST_CASE("loops that only wait for another value are distinguished from those that work") {
    NEEDS_DECODER();
    const Bytes load = {0x8b, 0x07}, test = {0x85, 0xc0}, pause = {0xf3, 0x90};   // mov (%rdi),%eax; test %eax,%eax
    const Bytes compare = {0x83, 0x3f, 0x00}, store = {0x48, 0x89, 0x06};         // cmpl $0,(%rdi); mov %rax,(%rsi)
    const Bytes local = {0x48, 0x89, 0x45, 0xf8}, next = {0x48, 0x83, 0xc7, 0x08}; // mov %rax,-8(%rbp); add $8,%rdi
    const auto back = [](size_t bytes) { return Bytes{0x74, static_cast<uint8_t>(-static_cast<int>(bytes + 2))}; };
    CHECK(plan(load + test + back(4) + kReturn, 2).polls);
    CHECK(plan(load + test + pause + back(6) + kReturn, 2).polls);
    CHECK(plan(load + test + local + back(8) + kReturn, 2).polls); // a counter in the frame
    CHECK(plan(compare + Bytes{0x75, 0x04} + pause + Bytes{0xeb, 0xf7} + kReturn, 0).polls);
    CHECK(plan(compare + Bytes{0x75, 0x01} + kReturn + pause + Bytes{0xeb, 0xf6} + kReturn, 0).polls); // goes on ahead
    CHECK_FALSE(plan(load + test + store + back(7) + kReturn, 2).polls);
    CHECK_FALSE(plan(load + test + Bytes{0x74, 0x03} + store + back(9) + kReturn, 2).polls); // stores now and then
    CHECK_FALSE(plan(load + next + back(6) + kReturn, 0).polls);
    CHECK_FALSE(plan(load + test + kReturn, 2).polls);
    CHECK_FALSE(plan(Bytes{0x83, 0x07, 0x01} + back(3) + kReturn, 3).polls); // addl $1,(%rdi)
    // It computes with the value: mov (%rdi),%eax; add %eax,%ebx; sub $1,%rdx; jne
    const Bytes sum = {0x01, 0xc3}, count = {0x48, 0x83, 0xea, 0x01};
    CHECK_FALSE(plan(load + sum + count + Bytes{0x75, 0xf6} + kReturn, 2).polls);
    // Both ways of what it decides go on: cmp %ecx,%eax; jae over; inc %ebx; over: sub $1,%rdx; jne
    const Bytes either = {0x39, 0xc8, 0x73, 0x02, 0xff, 0xc3};
    CHECK_FALSE(plan(load + either + count + Bytes{0x75, 0xf2} + kReturn, 2).polls);
    // Decided by what a slot of the frame kept of it: mov %rax,-8(%rbp); mov -8(%rbp),%rcx; test %rcx,%rcx
    const Bytes kept = {0x48, 0x8b, 0x4d, 0xf8, 0x48, 0x85, 0xc9};
    CHECK(plan(load + local + kept + back(13) + kReturn, 2).polls);
    // Until it has changed, or for so many rounds: test %eax,%eax; jne out; sub $1,%rdx; jne
    CHECK(plan(load + test + Bytes{0x75, 0x06} + count + Bytes{0x75, 0xf4} + kReturn, 2).polls);
}

TEST_CASE("a load whose value goes back to the same place is distinguished from others") {
    NEEDS_DECODER();
    const Bytes load = {0x48, 0x8b, 0x43, 0x08}, add = {0x48, 0x83, 0xc0, 0x01}; // mov 8(%rbx),%rax; add $1,%rax
    const Bytes store = {0x48, 0x89, 0x43, 0x08}, beside = {0x48, 0x89, 0x43, 0x10}; // mov %rax,8(%rbx); 16(%rbx)
    const Bytes move = {0x48, 0x83, 0xc3, 0x08};                                  // add $8,%rbx
    CHECK(plan(load + add + store + kReturn, 4).updates);
    CHECK_FALSE(plan(load + add + beside + kReturn, 4).updates);
    CHECK_FALSE(plan(load + move + store + kReturn, 0).updates);
    CHECK_FALSE(plan(load + kReturn + store, 0).updates);
    const Bytes relative_load = {0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00};  // mov 256(%rip),%rax
    const Bytes relative_store = {0x48, 0x89, 0x05, 0xf5, 0x00, 0x00, 0x00}; // mov %rax,245(%rip), 11 bytes on
    CHECK(plan(relative_load + add + relative_store + kReturn, 7).updates);
    CHECK_FALSE(plan(relative_load + relative_store + kReturn, 7).updates);
}

TEST_CASE("a sample behind a load, at a store: both are reported") {
    NEEDS_DECODER();
    const Bytes code = kLoadRaxFromRdi + kStoreIndexed + kReturn; // mov (%rdi),%rax; movsd %xmm0,(%rdi,%rax,8)
    const Bytes other = kLoadRaxFromRdi + Bytes{0x48, 0x89, 0x46, 0x10} + kReturn; // mov %rax,16(%rsi)
    const AccessPlan both = plan(other, 3);
    REQUIRE(both.kind == AccessPlan::Kind::before);
    CHECK(both.code[0] == 0x48);
    CHECK(both.code[2] == 0x07);
    REQUIRE(both.store);
    CHECK(both.store->kind == AccessPlan::Kind::at);
    CHECK(both.store->flags == trace::kAlignStore);
    CHECK(both.store->length == 4);
    CHECK(both.store->code[1] == 0x89);
    shim::Registers registers{};
    registers[4] = 0x10000;
    CHECK(both.store->address(kStart + 3, registers) == 0x10010);
    REQUIRE(plan(code, 3).store); // its address is known: the sample stands before it
    CHECK_FALSE(plan(kLoadRaxFromRdi + kIncrementRax + kReturn, 3).store);
    CHECK_FALSE(plan(kStoreIndexed + kReturn, 0).store); // it is what was reported already
}

TEST_CASE("any bytes are safe") {
    NEEDS_DECODER();
    uint32_t state = 1;
    for (int turn = 0; turn < 200; ++turn) {
        Bytes noise(64);
        for (uint8_t& byte : noise) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(state >> 24);
        }
        const CodeRegion whole = CodeRegion::from_boundary(kStart, noise);
        for (uint64_t offset = 0; offset <= noise.size(); ++offset) {
            plan_access(whole, kStart + offset);
            plan_access(CodeRegion::around(kStart, noise, kStart + offset), kStart + offset);
        }
    }
}

#endif
