// Loops that are run again: which can be, where their data would lie if it were aligned, which registers count rounds, and
// that the replay tells a store across pages from one that is aligned.
#include "needs_decoder.h"
#include "record/access/loops/loop_counter.h"
#include "record/access/replay/access_layout.h"
#include "record/access/replay/loop_replay.h"
#include "record/access/replay/replay_code.h"

#include <catch2/catch.hpp>
#include <plumb/trace_format.h>

using namespace plumb;
using namespace plumb::record;
using Bytes = std::vector<uint8_t>;

namespace {

constexpr uint16_t kLoad = trace::kAlignLoad, kStore = trace::kAlignStore, kPacked = trace::kAlignPacked;

LoopAccess access(uint64_t address, int64_t round, uint16_t width, uint16_t flags = kLoad) {
    return {0x401000, address, round, width, flags};
}

} // namespace

TEST_CASE("of the forms of a replay the one counts that takes what the program's rounds took") {
    const auto form = [](uint64_t seen_ps, uint64_t aligned_ps) { return ReplayedPair{seen_ps, aligned_ps, 0}; };
    const std::vector<ReplayedPair> forms = {form(2'000, 1'900), form(1'000, 600)};
    const auto chosen = [&](uint64_t round_ps) { return forms[form_like(forms, round_ps)].seen_ps; };
    CHECK(chosen(1'900) == 2'000);
    CHECK(chosen(1'100) == 1'000);
    CHECK(chosen(9'000) == 2'000);
    CHECK(chosen(0) == 2'000); // alignment gains less
    const std::vector<ReplayedPair> alike = {form(1'010, 900), form(980, 500)};
    CHECK(alike[form_like(alike, 1'000)].seen_ps == 980); // the one that adds least
    CHECK(form_like(std::vector{form(1'000, 500)}, 7) == 0);
}

TEST_CASE("which part of the accesses crosses") {
    CHECK(crossing_share(access(0x10004, 8, 8), 4096, 64) == Approx(0.125));
    CHECK(crossing_share(access(0x10004, 8, 8), 4096, 4096) == Approx(1.0 / 512));
    CHECK(crossing_share(access(0x10ffc, 4096, 8), 6, 4096) == 1);
    CHECK(crossing_share(access(0x10ffc, -4096, 8), 6, 4096) == 1);
    CHECK(crossing_share(access(0x10000, 8, 8), 4096, 64) == 0);
    CHECK(crossing_share(access(0x1003c, 0, 8), 4096, 64) == 1); // it stays where it is
}

TEST_CASE("where aligned data would lie") {
    SECTION("records grow to a multiple of their largest member") {
        // 13 bytes: a byte, then 8 bytes at 1, then 4 bytes at 9
        const std::vector<LoopAccess> aligned =
            aligned_layout({access(0x10000, 13, 1), access(0x10001, 13, 8), access(0x10009, 13, 4)});
        CHECK(aligned[0].address == 0x10000);
        CHECK(aligned[1].address == 0x10008);
        CHECK(aligned[2].address == 0x10010);
        for (const LoopAccess& each : aligned) {
            CHECK(each.round == 24);
            CHECK(crossing_share(each, 4096, 64) == 0);
        }
    }
    SECTION("a sweep begins at a line, and its arrays keep their distance") {
        const std::vector<LoopAccess> aligned = aligned_layout(
            {access(0x10084, 16, 16, kLoad | kPacked), access(0x10084 + 16000, 16, 16, kLoad | kPacked),
             access(0x10084, 16, 16, kStore | kPacked)});
        CHECK(aligned[0].address == 0x10080);
        CHECK(aligned[1].address == 0x10080 + 16000);
        CHECK(aligned[2].address == aligned[0].address);
        CHECK(aligned[0].round == 16);
    }
    SECTION("what overlaps from round to round is meant to") {
        // A stencil, and words read at every byte.
        const std::vector<LoopAccess> stencil = {access(0x10008, 16, 16, kLoad | kPacked), access(0x10010, 16, 16, kLoad | kPacked),
                                                 access(0x10018, 16, 16, kLoad | kPacked)};
        CHECK(aligned_layout(stencil) == stencil);
        const std::vector<LoopAccess> words = {access(0x10008, 1, 8)};
        CHECK(aligned_layout(words) == words);
    }
    SECTION("downwards") {
        const std::vector<LoopAccess> aligned = aligned_layout({access(0x1003c, -8, 8)});
        CHECK(aligned[0].address % 8 == 0);
        CHECK(aligned[0].round == -8);
    }
    SECTION("what stays where it is goes to its alignment") {
        const std::vector<LoopAccess> aligned = aligned_layout({access(0x1003c, 0, 8), access(0x10044, 0, 4)});
        CHECK(aligned[0].address % 8 == 0);
        CHECK(aligned[1].address >= aligned[0].address + 8);
        CHECK(crossing_share(aligned[0], 1, 64) == 0);
    }
}

#if defined(__x86_64__)

namespace {

// A loop in a loop: inc %rsi in the outer one; mov %rdx,(%rax); inc %rdx; add $0x1000,%rax; cmp $6,%rdx in the inner one.
const Bytes kNest = {0x31, 0xd2,                               // 00 xor %edx,%edx
                     0x48, 0x89, 0xf8,                         // 02 mov %rdi,%rax
                     0x48, 0x89, 0x10,                         // 05 mov %rdx,(%rax)
                     0x48, 0xff, 0xc2,                         // 08 inc %rdx
                     0x48, 0x05, 0x00, 0x10, 0x00, 0x00,       // 0b add $0x1000,%rax
                     0x48, 0x83, 0xfa, 0x06,                   // 11 cmp $6,%rdx
                     0x75, 0xee,                               // 15 jne 05
                     0x48, 0xff, 0xc6,                         // 17 inc %rsi
                     0x48, 0x81, 0xfe, 0x00, 0x00, 0x10, 0x00, // 1a cmp $0x100000,%rsi
                     0x75, 0xdd,                               // 21 jne 00
                     0xc3};

} // namespace

TEST_CASE("a straight loop can be run again") {
    NEEDS_DECODER();
    const CodeRegion region = CodeRegion::from_boundary(kStart, kNest);
    const auto loop = ReplayableLoop::follow(region, kStart + 8);
    REQUIRE(loop);
    CHECK(loop->begin(kStart + 8) == kStart + 5);
    CHECK(loop->end(kStart + 8) == kStart + 0x15);
    CHECK(loop->instructions().size() == 4); // without the jump
    shim::Registers registers{};
    registers[kRax] = 0x10ffc;
    registers[kRdx] = 2;
    const auto moment = loop->at(kStart + 8, registers);
    REQUIRE(moment);
    REQUIRE(moment->accesses.size() == 1);
    CHECK(moment->accesses[0].instruction == kStart + 5);
    CHECK(moment->accesses[0].address == 0x11ffc); // of the next round
    shim::Registers ahead{};
    ahead[kRax] = 0x11ffc;
    ahead[kRdx] = 3;
    CHECK(ReplayableLoop::follow(region, kStart + 5)->at(kStart + 5, ahead)->accesses[0].address == 0x12ffc); // likewise
    CHECK(moment->accesses[0].round == 0x1000);
    CHECK(moment->accesses[0].width == 8);
    CHECK(moment->rounds_left == 4); // the third of six is under way
    // The loop around it holds another one.
    CHECK_FALSE(ReplayableLoop::follow(region, kStart + 0x17));
}

TEST_CASE("loops that are not run again") {
    NEEDS_DECODER();
    const auto follow = [](const Bytes& code) {
        return ReplayableLoop::follow(CodeRegion::from_boundary(kStart, code), kStart);
    };
    CHECK(follow({0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x75, 0xf7, 0xc3})); // add (%rdi),%rax; add $8,%rdi; jne
    CHECK_FALSE(follow({0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0xc3}));       // no loop
    CHECK_FALSE(follow({0x48, 0x8b, 0x3f, 0x48, 0x85, 0xff, 0x75, 0xf8, 0xc3})); // mov (%rdi),%rdi: a list
    CHECK_FALSE(follow({0x48, 0x03, 0x07, 0xe8, 0, 0, 0, 0, 0x75, 0xf6, 0xc3})); // a call
    // add (%rdi),%rax; je over the next; add $1,%rcx; add $8,%rdi; jne: a branch inside
    CHECK_FALSE(follow({0x48, 0x03, 0x07, 0x74, 0x04, 0x48, 0x83, 0xc1, 0x01, 0x48, 0x83, 0xc7, 0x08, 0x75, 0xf1, 0xc3}));
    CHECK_FALSE(follow({0xf0, 0x48, 0x01, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x75, 0xf6, 0xc3})); // a lock
    CHECK_FALSE(follow({0x48, 0xa5, 0x48, 0xff, 0xc9, 0x75, 0xf9, 0xc3}));                   // movsq
    CHECK_FALSE(follow({0x50, 0x58, 0x48, 0xff, 0xc9, 0x75, 0xf9, 0xc3}));                   // push, pop
    CHECK_FALSE(follow({0x64, 0x48, 0x03, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x75, 0xf6, 0xc3})); // a thread's own segment
}

TEST_CASE("registers that count rounds") {
    NEEDS_DECODER();
    const CodeRegion region = CodeRegion::from_boundary(kStart, kNest);
    const std::vector<LoopCounter> counters = counters_around(region, kStart + 8);
    REQUIRE(counters.size() == 2);
    CHECK(counters[0].reg == kRdx); // of the inner loop
    CHECK(counters[0].begin == -3);
    CHECK(counters[0].end == 13);
    CHECK(counters[1].reg == kRsi); // the others of the outer loop are set or changed more than once in a round
    CHECK(counters[1].step == 1);
    CHECK(counters[1].begin == -8);
    CHECK(counters[1].rounds(100, 350) == 250);
    CHECK(counters[1].rounds(350, 100) == 0); // it began anew
    CHECK(counters[1].level == 1);
    const LoopCounter down{0, 0, -16, kRcx, true, 0};
    CHECK(down.rounds(0x100, 0xc0) == 4);
    CHECK(down.rounds(0xffff'ffff'0000'0010, 0xfffffff0) == 2); // the upper half does not count
    CHECK(down.rounds(0x100, 0xc4) == 0);
    // je over; add $1,%rcx; over: dec %rdx; jne: it is not met in every round
    const Bytes skipped = {0x48, 0x85, 0xc0, 0x74, 0x04, 0x48, 0x83, 0xc1, 0x01, 0x48, 0xff, 0xca, 0x75, 0xf2, 0xc3};
    const std::vector<LoopCounter> others = counters_around(CodeRegion::from_boundary(kStart, skipped), kStart);
    REQUIRE(others.size() == 1);
    CHECK(others[0].reg == kRdx);
}

TEST_CASE("what a round takes, by pairs of samples") {
    const std::vector<RoundPair> alone(10, {1000, 1'010'000, 1'000'000});
    CHECK(round_time_ps(alone) == Approx(1'010'000));
    CHECK(round_time_ps({alone.begin(), alone.begin() + 3}) == 0); // too few
    // Half of the time another thread has the CPU: samples come at uneven distances, but stand for even parts of its time.
    std::vector<RoundPair> shared;
    for (uint64_t i = 0; i < 40; ++i)
        shared.push_back({i % 2 ? 500u : 1500u, 2'000'000 + i % 5 * 300'000, 1'000'000});
    CHECK(round_time_ps(shared) == Approx(1'000'000));
    std::vector<RoundPair> restarted = alone;
    restarted.insert(restarted.end(), 2, {0, 1'000'000, 1'000'000});
    CHECK(round_time_ps(restarted) == Approx(1'010'000)); // seldom
    restarted.insert(restarted.end(), 10, {0, 1'000'000, 1'000'000});
    CHECK(round_time_ps(restarted) == 0); // most of the time
    std::vector<RoundPair> uneven;
    for (uint64_t i = 0; i < 12; ++i)
        uneven.push_back({i % 6 ? 10u : 10'000u, 1'000'000, 1'000'000});
    CHECK(round_time_ps(uneven) == 0);
}

TEST_CASE("a replay tells what an access across pages costs") {
    NEEDS_DECODER();
    const CodeRegion region = CodeRegion::from_boundary(kStart, kNest);
    const auto loop = ReplayableLoop::follow(region, kStart + 5);
    REQUIRE(loop);
    const auto replay = [&](uint64_t address) {
        return replay_aligned(loop->instructions(), {{kStart + 5, address, 4096, 8, kStore}}, 6, 0);
    };
    const auto ps = [](uint64_t time) { return static_cast<double>(time); };
    // Other programs may disturb a measurement: that of one try in ten must be good.
    bool good = false;
    for (int tries = 0; tries < 10 && !good; ++tries) {
        const ReplayedPair aligned = replay(0x7f0000000f00);
        const ReplayedPair crossing = replay(0x7f0000000ffc);
        REQUIRE(aligned.seen_ps > 0);
        REQUIRE(aligned.other_ps > 0);
        REQUIRE(crossing.seen_ps > 0);
        UNSCOPED_INFO("aligned " << aligned.seen_ps << " " << aligned.other_ps << ", crossing " << crossing.seen_ps << " "
                                 << crossing.other_ps);
        good = ps(aligned.seen_ps) < 1.5 * ps(aligned.other_ps) && //
               ps(crossing.seen_ps) > 1.5 * ps(crossing.other_ps) && // on any CPU known
               ps(crossing.other_ps) < 1.5 * ps(aligned.other_ps) + 300;
    }
    CHECK(good);
}

TEST_CASE("a replay needs registers, memory and instructions that do not fault") {
    NEEDS_DECODER();
    const auto instruction = [](const Bytes& bytes, int access) {
        ReplayInstruction made;
        std::ranges::copy(bytes, made.code.begin());
        made.length = static_cast<uint8_t>(bytes.size());
        made.access = access;
        return made;
    };
    const ReplayInstruction load = instruction({0x48, 0x03, 0x07}, 0); // add (%rdi),%rax
    CHECK(replay_aligned(std::vector{load}, {access(0x10000, 8, 8)}, 100, 0).seen_ps > 0);
    CHECK(replay_aligned(std::vector{load}, {access(0x10000, 1 << 20, 8)}, 1000, 0).seen_ps == 0); // too much memory
    CHECK(replay_aligned(std::vector{instruction({0x0f, 0x0b}, -1), load}, {access(0x10000, 8, 8)}, 100, 0).seen_ps == 0); // ud2
    CHECK(replay_aligned(std::vector{instruction({0x48, 0x83, 0xec, 0x08}, -1), load}, {access(0x10000, 8, 8)}, 100, 0).seen_ps == 0); // sub $8,%rsp
    CHECK(replay_aligned(std::vector{instruction({0xd7}, -1), load}, {access(0x10000, 8, 8)}, 100, 0).seen_ps == 0); // xlat: memory of its own
    CHECK(replay_aligned(std::vector{instruction({0x0f, 0x18, 0x08}, -1), load}, {access(0x10000, 8, 8)}, 100, 0).seen_ps > 0); // prefetch
    // movaps (%rdi),%xmm0 faults off its alignment: nothing is measured, and nobody dies.
    CHECK(replay_aligned(std::vector{instruction({0x0f, 0x28, 0x07}, 0)}, {access(0x10004, 16, 16, kLoad | kPacked)}, 100, 0).seen_ps == 0);
}

#endif
