// Loops on vectors of 16 bytes, rewritten for vectors of 32: which loops, what they become, and that it takes less time where the
// processor has such units.
#include "needs_decoder.h"
#include "record/access/replay/loop_replay.h"
#include "record/access/replay/wide_form.h"

#include <catch2/catch.hpp>
#include <plumb/trace_format.h>

#if defined(__x86_64__)

using namespace plumb;
using namespace plumb::record;
using Bytes = std::vector<uint8_t>;

namespace {

constexpr uint16_t kLoad = trace::kAlignLoad, kStore = trace::kAlignStore;
constexpr uint64_t kX = 0x7f0000000008, kY = 0x7f0000100000;

ReplayInstruction instruction(const Bytes& bytes, int access = -1) {
    ReplayInstruction made;
    std::ranges::copy(bytes, made.code.begin());
    made.length = static_cast<uint8_t>(bytes.size());
    made.access = access;
    return made;
}

LoopAccess access(uint64_t address, int64_t round, uint16_t width = 16, uint16_t flags = kLoad) {
    return {0x401000, address, round, width, flags};
}

Bytes bytes_of(const ReplayInstruction& made) { return {made.code.begin(), made.code.begin() + made.length}; }

// movupd (%rdi,%rax),%xmm0; mulpd %xmm1,%xmm0; addpd %xmm0,%xmm0; movups %xmm0,(%rsi,%rax); add $16,%rax; cmp %rdx,%rax
const std::vector<ReplayInstruction> kScale = {instruction({0x66, 0x0f, 0x10, 0x04, 0x07}, 0), instruction({0x66, 0x0f, 0x59, 0xc1}),
                                               instruction({0x66, 0x0f, 0x58, 0xc0}), instruction({0x0f, 0x11, 0x04, 0x06}, 1),
                                               instruction({0x48, 0x83, 0xc0, 0x10}), instruction({0x48, 0x39, 0xd0})};
const std::vector<LoopAccess> kScaleAccesses = {access(kX, 16), access(kY, 16, 16, kStore)};

} // namespace

TEST_CASE("each instruction on 16 bytes becomes one on 32") {
    NEEDS_DECODER();
    CHECK(computes_narrow(kScale));
    const auto form = wide_form(kScale, kScaleAccesses);
    REQUIRE(form);
    CHECK(form->lanes == 2);
    CHECK(form->vector_bytes == 32);
    CHECK(form->element_bytes == 8);
    REQUIRE(form->instructions.size() == 6);
    CHECK(bytes_of(form->instructions[1]) == Bytes{0xc5, 0xfd, 0x59, 0xc1}); // vmulpd %ymm1,%ymm0,%ymm0
    CHECK(bytes_of(form->instructions[4]) == Bytes{0x48, 0x83, 0xc0, 0x10});
    REQUIRE(form->accesses.size() == 2);
    CHECK(form->accesses[0] == access(kX, 32, 32));
    CHECK(form->accesses[1] == access(kY, 32, 32, kStore));
}

TEST_CASE("loops that are not narrow, and vectors that cannot be joined") {
    NEEDS_DECODER();
    auto scalar = kScale;
    scalar[1] = instruction({0xf2, 0x0f, 0x59, 0xc1}); // mulsd
    CHECK_FALSE(computes_narrow(scalar));
    auto shuffled = kScale;
    shuffled[1] = instruction({0x66, 0x0f, 0x14, 0xc1}); // unpcklpd
    CHECK_FALSE(computes_narrow(shuffled));
    auto with_avx = kScale;
    with_avx[1] = instruction({0xc5, 0xf9, 0x59, 0xc1}); // vmulpd %xmm1,%xmm0,%xmm0: so short although it need not be
    CHECK_FALSE(computes_narrow(with_avx));
    const std::vector<ReplayInstruction> copy = {kScale[0], kScale[3], kScale[4]};
    CHECK_FALSE(computes_narrow(copy)); // computes nothing
    CHECK_FALSE(wide_form(kScale, {access(kX, 16), access(kY, 0, 16, kStore)}));  // stores to one place
    CHECK_FALSE(wide_form(kScale, {access(kX, 16), access(kX + 16, 16, 16, kStore)})); // the next round's
    CHECK_FALSE(wide_form(kScale, {access(kX, 64), access(kY, 16, 16, kStore)})); // loads from every fourth
}

TEST_CASE("half as many instructions take less time on a processor with wide units") {
    NEEDS_DECODER();
    if (!__builtin_cpu_supports("avx2"))
        return;
    const ReplayedPair time = replay_wide(kScale, kScaleAccesses, 256, 0);
    REQUIRE(time.seen_ps > 0);
    CHECK(time.other_ps > 0);
    CHECK(time.other_ps * 4 <= time.seen_ps * 5); // as fast, but for noise, where a wide instruction is carried out as two
}

#endif
