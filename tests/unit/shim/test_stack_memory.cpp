// Whatever address damaged frames lead to, nothing faults.
#include "platform/os/stack_memory.h"

#include <catch2/catch.hpp>

#include <array>

using namespace plumb::shim;

TEST_CASE("words of the own stack are read from the stack pointer to its end, and addresses that go around are refused") {
    alignas(8) std::array<uint64_t, 64> stack{};
    stack[10] = 11;
    stack[63] = 64;
    const auto address = [&](size_t word) { return reinterpret_cast<uint64_t>(stack.data() + word); };
    StackReader reader({address(0), address(64)}, address(8));
    REQUIRE(reader.on_own_stack());
    uint64_t value = 0;
    CHECK(reader.load(address(10), &value));
    CHECK(value == 11);
    CHECK(reader.load(address(63), &value));
    CHECK(value == 64);
    CHECK_FALSE(reader.load(address(10) + 1, &value));
    // What a frame pointer of 0 leads to.
    for (const uint64_t below : {uint64_t{0}, uint64_t{8}, uint64_t{16}, uint64_t{4096}})
        CHECK_FALSE(reader.load(0 - below, &value));
    StackReader unknown({0, 0}, address(8));
    CHECK_FALSE(unknown.load(0 - uint64_t{8}, &value));
}
