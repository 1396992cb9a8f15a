#include "platform/code/memory_instruction.h"
#include "record/align/code/flag_code.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace plumb::shim;

namespace {

using Bytes = std::vector<uint8_t>;

// Between code of a usual kind: mov (%rdi,%rbx,8),%rax; add $1,%rax; mov %rax,8(%rsp).
Bytes in_a_function(const Bytes& middle) {
    const Bytes usual = {0x48, 0x8b, 0x04, 0xdf, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x89, 0x44, 0x24, 0x08};
    Bytes code;
    for (int i = 0; i < 6; ++i)
        code.insert(code.end(), usual.begin(), usual.end());
    code.insert(code.end(), middle.begin(), middle.end());
    for (int i = 0; i < 6; ++i)
        code.insert(code.end(), usual.begin(), usual.end());
    return code;
}

bool found(const Bytes& middle) {
    REQUIRE(load_decoder(nullptr));
    const Bytes code = in_a_function(middle);
    const auto start = reinterpret_cast<uint64_t>(code.data());
    const uint64_t at = find_flag_code(start, start + code.size());
    CHECK((at == 0 || (at >= start + 78 && at < start + 78 + middle.size())));
    return at != 0;
}

} // namespace

TEST_CASE("code that moves the flags to a register or back is found") {
    CHECK(found({0x9c, 0x58}));                               // pushfq; pop %rax
    CHECK(found({0x9c, 0x41, 0x5c}));                         // pushfq; pop %r12
    CHECK(found({0x9c, 0x8f, 0x45, 0xf8}));                   // pushfq; pop -8(%rbp)
    CHECK(found({0x9c, 0x48, 0x8b, 0x04, 0x24}));             // pushfq; mov (%rsp),%rax
    CHECK(found({0x50, 0x9d}));                               // push %rax; popfq
    CHECK(found({0x41, 0x54, 0x9d}));                         // push %r12; popfq
    CHECK(found({0xff, 0x75, 0xf8, 0x9d}));                   // push -8(%rbp); popfq
    CHECK(found({0x68, 0x02, 0x02, 0x04, 0x00, 0x9d}));       // push $0x40202; popfq
}

TEST_CASE("code that changes the alignment flag on the stack is found") {
    CHECK(found({0x9c, 0x81, 0x0c, 0x24, 0x00, 0x00, 0x04, 0x00, 0x9d}));       // orl $0x40000,(%rsp)
    CHECK(found({0x90, 0x48, 0x81, 0x24, 0x24, 0xff, 0xff, 0xfb, 0xff, 0x9d})); // andq $~0x40000,(%rsp)
    CHECK(found({0x90, 0x48, 0x0f, 0xba, 0x2c, 0x24, 0x12, 0x9d}));             // btsq $18,(%rsp)
}

TEST_CASE("code that only saves and restores the flags is none of it") {
    CHECK_FALSE(found({0x9c, 0x53, 0x55, 0xfc, 0x5d, 0x5b, 0x9d})); // pushfq; push; push; cld; pop; pop; popfq
    CHECK_FALSE(found({0x68, 0x02, 0x02, 0x00, 0x00, 0x9d}));       // push $0x202; popfq
}

TEST_CASE("the question for a cpuid instruction is none of it, unless the alignment flag is meant too") {
    const Bytes question = {0x9c, 0x58, 0x48, 0x89, 0xc1, 0x48, 0x35, 0x00, 0x00, 0x20, 0x00, 0x50, 0x9d, 0x9c, 0x58};
    CHECK_FALSE(found(question));
    Bytes both = question;
    both.insert(both.end(), {0x48, 0x35, 0x00, 0x00, 0x04, 0x00, 0x50, 0x9d});
    CHECK(found(both));
}

TEST_CASE("the same bytes inside other instructions are none of it") {
    CHECK_FALSE(found({0x48, 0x8d, 0x9c, 0x58, 0x00, 0x01, 0x00, 0x00}));       // lea 256(%rax,%rbx,2),%rbx
    CHECK_FALSE(found({0x48, 0xb8, 0x00, 0x9c, 0x58, 0x50, 0x9d, 0x00, 0, 0})); // mov $constant,%rax
    CHECK_FALSE(found({0xe8, 0x9c, 0x5b, 0x00, 0x00}));                         // call
    CHECK_FALSE(found({0x8b, 0x9d, 0x50, 0x9d, 0x00, 0x00}));                   // mov 0x9d50(%rbp),%ebx
}
