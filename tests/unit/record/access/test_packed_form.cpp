// Loops on single floating point numbers, rewritten for several at once: which instructions they become, where their accesses go, what
// cannot be rewritten, and that the time of one that waits for its sum halves.
#include "needs_decoder.h"
#include "record/access/replay/loop_replay.h"
#include "record/access/replay/packed_form.h"

#include <catch2/catch.hpp>
#include <plumb/trace_format.h>

#if defined(__x86_64__)

using namespace plumb;
using namespace plumb::record;
using Bytes = std::vector<uint8_t>;

namespace {

constexpr uint16_t kLoad = trace::kAlignLoad, kStore = trace::kAlignStore;

ReplayInstruction instruction(const Bytes& bytes, int access = -1) {
    ReplayInstruction made;
    std::ranges::copy(bytes, made.code.begin());
    made.length = static_cast<uint8_t>(bytes.size());
    made.access = access;
    return made;
}

LoopAccess access(uint64_t address, int64_t round, uint16_t width, uint16_t flags = kLoad) { return {0x401000, address, round, width, flags}; }

Bytes bytes_of(const ReplayInstruction& made) { return {made.code.begin(), made.code.begin() + made.length}; }

std::optional<PackedForm> packed(const std::vector<ReplayInstruction>& loop, const std::vector<LoopAccess>& accesses,
                                 PackedWidth width = PackedWidth::as_encoded, unsigned copies = 1) {
    return packed_form(loop, accesses, width, copies);
}

constexpr uint64_t kX = 0x7f0000000008, kY = 0x7f0000100000;

// movsd (%rdi,%rax,8),%xmm1; mulsd %xmm0,%xmm1; addsd (%rsi,%rax,8),%xmm1; movsd %xmm1,(%rsi,%rax,8); inc %rax; cmp %rdx,%rax
const std::vector<ReplayInstruction> kAxpy = {
    instruction({0xf2, 0x0f, 0x10, 0x0c, 0xc7}, 0), instruction({0xf2, 0x0f, 0x59, 0xc8}), instruction({0xf2, 0x0f, 0x58, 0x0c, 0xc6}, 1),
    instruction({0xf2, 0x0f, 0x11, 0x0c, 0xc6}, 2), instruction({0x48, 0xff, 0xc0}), instruction({0x48, 0x39, 0xd0})};
const std::vector<LoopAccess> kAxpyAccesses = {access(kX, 8, 8), access(kY, 8, 8), access(kY, 8, 8, kStore)};

// movsd (%rdi,%rax,8),%xmm1; mulsd (%rsi,%rax,8),%xmm1; addsd %xmm1,%xmm0; inc %rax
const std::vector<ReplayInstruction> kDot = {instruction({0xf2, 0x0f, 0x10, 0x0c, 0xc7}, 0), instruction({0xf2, 0x0f, 0x59, 0x0c, 0xc6}, 1),
                                             instruction({0xf2, 0x0f, 0x58, 0xc1}), instruction({0x48, 0xff, 0xc0})};
const std::vector<LoopAccess> kDotAccesses = {access(kX, 8, 8), access(kY, 8, 8)};

} // namespace

TEST_CASE("each instruction on one number becomes one on several") {
    NEEDS_DECODER();
    CHECK(computes_scalars(kAxpy));
    const auto form = packed(kAxpy, kAxpyAccesses);
    REQUIRE(form);
    CHECK(form->lanes == 2);
    CHECK(form->vector_bytes == 16);
    CHECK(form->chains == 0);
    CHECK_FALSE(form->made_adjacent);
    REQUIRE(form->instructions.size() == 7); // what is added is loaded first: it may lie anywhere
    CHECK(bytes_of(form->instructions[1]) == Bytes{0x66, 0x0f, 0x59, 0xc8}); // mulpd %xmm0,%xmm1
    CHECK(bytes_of(form->instructions[3])[2] == 0x58);                       // addpd
    CHECK(bytes_of(form->instructions[5]) == Bytes{0x48, 0xff, 0xc0});
    REQUIRE(form->accesses.size() == 3);
    for (const LoopAccess& each : form->accesses) {
        CHECK(each.width == 16);
        CHECK(each.round == 16);
    }
    CHECK(form->accesses[0].address == kX);
    CHECK(form->accesses[2].address == kY);

    const auto wide = packed(kAxpy, kAxpyAccesses, PackedWidth::wide);
    REQUIRE(wide);
    CHECK(wide->lanes == 4);
    CHECK(wide->accesses[0].width == 32);
    CHECK(bytes_of(wide->instructions[1]) == Bytes{0xc5, 0xf5, 0x59, 0xc8}); // vmulpd %ymm0,%ymm1,%ymm1
}

TEST_CASE("a sum that is carried over, alone and divided into two") {
    NEEDS_DECODER();
    const auto form = packed(kDot, kDotAccesses);
    REQUIRE(form);
    CHECK(form->chains == 1);
    CHECK(bytes_of(form->instructions[3]) == Bytes{0x66, 0x0f, 0x58, 0xc1}); // addpd %xmm1,%xmm0
    const auto two = packed(kDot, kDotAccesses, PackedWidth::as_encoded, 2);
    REQUIRE(two);
    CHECK(two->lanes == 4);
    REQUIRE(two->instructions.size() == 2 * form->instructions.size());
    CHECK(bytes_of(two->instructions[8]) != bytes_of(two->instructions[3])); // into another register
    REQUIRE(two->accesses.size() == 4);
    CHECK(two->accesses[0].round == 32);
    CHECK(two->accesses[2].address == kX + 16);
}

TEST_CASE("downwards, unrolled, and with elements that lie apart") {
    NEEDS_DECODER();
    const auto down = packed(kAxpy, {access(kX, -8, 8), access(kY, -8, 8), access(kY, -8, 8, kStore)});
    REQUIRE(down);
    CHECK(down->accesses[0].address == kX - 8);
    CHECK(down->accesses[0].round == -16);

    // addsd (%rdi),%xmm0; addsd 8(%rdi),%xmm0; add $16,%rdi
    const std::vector<ReplayInstruction> unrolled = {instruction({0xf2, 0x0f, 0x58, 0x07}, 0), instruction({0xf2, 0x0f, 0x58, 0x47, 0x08}, 1),
                                                     instruction({0x48, 0x83, 0xc7, 0x10})};
    const auto both = packed(unrolled, {access(kX, 16, 8), access(kX + 8, 16, 8)});
    REQUIRE(both);
    CHECK_FALSE(both->made_adjacent);
    CHECK(both->accesses[0].address == kX);
    CHECK(both->accesses[1].address == kX + 16);
    CHECK(both->accesses[1].round == 32);

    // Two members of a record, side by side as well, but one is multiplied by the other.
    const auto members = packed(kDot, {access(kX, 16, 8), access(kX + 8, 16, 8)});
    REQUIRE(members);
    CHECK(members->made_adjacent);

    const auto apart = packed(kAxpy, {access(kX, 32, 8), access(kX + 8, 32, 8), access(kX + 8, 32, 8, kStore)});
    REQUIRE(apart);
    CHECK(apart->made_adjacent);
    CHECK(apart->accesses[0].round == 16);
    CHECK(apart->accesses[1].address == apart->accesses[2].address);
    CHECK(apart->accesses[0].address != apart->accesses[1].address);
}

TEST_CASE("rounds that load what the one before stored are not computed at once") {
    NEEDS_DECODER();
    const auto with_store_at = [](uint64_t y, int64_t round) {
        return packed(kAxpy, {access(kX, round, 8), access(kY, round, 8), access(y, round, 8, kStore)}).has_value();
    };
    CHECK_FALSE(with_store_at(kX + 8, 8)); // y = x + 1
    CHECK_FALSE(with_store_at(kX - 8, -8));
    CHECK_FALSE(with_store_at(kX + 4, 8)); // partly
    CHECK(with_store_at(kX + 16, 8));      // the round after the next one: of two at once neither
    CHECK(with_store_at(kX, 8));
    CHECK(with_store_at(kX - 8, 8)); // it was loaded before
}

TEST_CASE("between precisions") {
    NEEDS_DECODER();
    // pxor %xmm0,%xmm0; cvtss2sd (%rdi),%xmm0; mulsd %xmm1,%xmm0; movsd %xmm0,(%rsi)
    const std::vector<ReplayInstruction> widen = {instruction({0x66, 0x0f, 0xef, 0xc0}), instruction({0xf3, 0x0f, 0x5a, 0x07}, 0),
                                                  instruction({0xf2, 0x0f, 0x59, 0xc1}), instruction({0xf2, 0x0f, 0x11, 0x06}, 1)};
    CHECK(computes_scalars(widen));
    const auto form = packed(widen, {access(kX, 4, 4), access(kY, 8, 8, kStore)});
    REQUIRE(form);
    CHECK(form->lanes == 2);
    REQUIRE(form->instructions.size() == 3); // nothing waits for the old contents of a whole register
    CHECK(bytes_of(form->instructions[0])[0] == 0x0f); // cvtps2pd
    CHECK(form->accesses[0].width == 8);
    CHECK(form->accesses[0].round == 8);
    CHECK(form->accesses[1].width == 16);
}

TEST_CASE("what has no packed form") {
    NEEDS_DECODER();
    const ReplayInstruction add = instruction({0xf2, 0x0f, 0x58, 0x07}, 0); // addsd (%rdi),%xmm0
    CHECK(packed({add}, {access(kX, 8, 8)}));
    CHECK_FALSE(packed({add, instruction({0xf2, 0x48, 0x0f, 0x2a, 0xc8})}, {access(kX, 8, 8)})); // cvtsi2sd %rax,%xmm1
    CHECK_FALSE(packed({add, instruction({0xf2, 0x0f, 0x2c, 0xc0})}, {access(kX, 8, 8)}));       // cvttsd2si %xmm0,%eax
    CHECK_FALSE(packed({add, instruction({0xf2, 0x0f, 0x11, 0x06}, 1)}, {access(kX, 8, 8), access(kY, 0, 8, kStore)})); // to one place
    CHECK_FALSE(packed({add, instruction({0xd9, 0xfa})}, {access(kX, 8, 8)}));                   // fsqrt
    CHECK_FALSE(packed({add, instruction({0x66, 0x0f, 0x14, 0xc1})}, {access(kX, 8, 8)}));       // unpcklpd %xmm1,%xmm0
    CHECK_FALSE(computes_scalars(std::vector{instruction({0x66, 0x0f, 0x58, 0xc1})}));           // addpd: it is packed already
    CHECK_FALSE(computes_scalars(std::vector{instruction({0x48, 0x03, 0x07}, 0)}));              // add (%rdi),%rax
    CHECK_FALSE(computes_scalars(std::vector{instruction({0xf2, 0x0f, 0x10, 0x07}, 0)}));        // movsd (%rdi),%xmm0
}

TEST_CASE("a sum takes half as long with two numbers at once, and less again in two sums") {
    NEEDS_DECODER();
    const auto ps = [](uint64_t time) { return static_cast<double>(time); };
    // Other programs may disturb a measurement: that of one try in ten must be good.
    bool good = false;
    const std::vector<LoopAccess> aligned = {access(kY + 0x10400, 8, 8), access(kY, 8, 8)};
    for (int tries = 0; tries < 10 && !good; ++tries) {
        const ReplayedPacked time = replay_packed(kDot, aligned, 1000, 0);
        REQUIRE(time.packed.seen_ps > 0);
        REQUIRE(time.packed.other_ps > 0);
        CHECK(time.lanes == 2);
        CHECK(time.chains == 1);
        UNSCOPED_INFO(time.packed.seen_ps << " ps a round, packed " << time.packed.other_ps << ", in two sums " << time.unchained_ps);
        good = ps(time.packed.other_ps) < 0.7 * ps(time.packed.seen_ps) && ps(time.packed.other_ps) > 0.4 * ps(time.packed.seen_ps) &&
               time.unchained_ps > 0 && ps(time.unchained_ps) < 0.9 * ps(time.packed.other_ps);
    }
    CHECK(good);
    CHECK(replay_packed(kDot, {access(kX, 1 << 20, 8), access(kY, 8, 8)}, 1000, 0).packed.seen_ps == 0); // too much memory
}

#endif
