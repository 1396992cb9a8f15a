// What the recorder measured of a packed loop, and when it says nothing about the cure.
#include "diagnoses/code/measured_gain.h"

#include <catch2/catch.hpp>

using namespace plumb;
using code::ScalarCause;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t kBegin = 0x401000, kEnd = 0x401040;

SampledLoop loop_of(code::Compiler::Kind compiler) {
    SampledLoop loop;
    loop.facts.begin = kBegin;
    loop.facts.end = kEnd;
    loop.compiler.kind = compiler;
    return loop;
}

model::PackedLoop measured() {
    model::PackedLoop packed;
    packed.loop_begin = kBegin + 8;
    packed.loop_end = kEnd - 2;
    packed.time_ns = 1'000'000;
    packed.lanes = 2;
    packed.vector_bytes = 16;
    packed.scalar_ns = 1.0;
    packed.packed_ns = 0.6;
    packed.unchained_ns = 0.35;
    packed.round_ns = 1.1;
    return packed;
}

// The part of the loop's time that is gained; -1: not measured.
double gained(ScalarCause cause, const std::vector<model::PackedLoop>& run_again, const SampledLoop& loop, double left = 1) {
    Finding finding;
    finding.cost.fraction = 0.5;
    return set_measured_gain(loop, cause, run_again, left, finding) ? finding.gain.fraction / finding.cost.fraction : -1;
}

} // namespace

TEST_CASE("what a packed loop saves is what its replay saved, of one vector or two by the compiler") {
    const SampledLoop gcc = loop_of(code::Compiler::Kind::gcc);
    CHECK(gained(ScalarCause::order, {measured()}, gcc) == Approx(0.4));
    CHECK(gained(ScalarCause::order, {measured()}, loop_of(code::Compiler::Kind::clang)) == Approx(0.65));
    SampledLoop of_floats = gcc;
    of_floats.facts.scalar[static_cast<size_t>(code::Operation::Kind::convert_precision)] = 1;
    CHECK(gained(ScalarCause::order, {measured()}, of_floats) == Approx(0.65));
    model::PackedLoop slower = measured();
    slower.packed_ns = 1.2;
    CHECK(gained(ScalarCause::level, {slower}, gcc) == 0);
    CHECK(gained(ScalarCause::level, {measured()}, gcc, 0.25) == Approx(0.25)); // memory gives no more
}

TEST_CASE("a replay of another loop, or that does not take what the program takes, measures nothing") {
    const SampledLoop gcc = loop_of(code::Compiler::Kind::gcc);
    CHECK(gained(ScalarCause::level, {}, gcc) == -1);
    model::PackedLoop other = measured();
    other.loop_end = kEnd; // reaches beyond it
    CHECK(gained(ScalarCause::level, {other}, gcc) == -1);
    model::PackedLoop waits = measured();
    waits.round_ns = 1.6;
    CHECK(gained(ScalarCause::level, {waits}, gcc) == -1);
    model::PackedLoop damaged = measured();
    damaged.scalar_ns = 0;
    CHECK(gained(ScalarCause::level, {damaged}, gcc) == -1);
    model::PackedLoop apart = measured();
    apart.made_adjacent = true;
    CHECK(gained(ScalarCause::order, {apart}, gcc) == -1);
    CHECK(gained(ScalarCause::stride, {apart}, gcc) == Approx(0.4)); // the cure lays them side by side
    CHECK(gained(ScalarCause::recurrence, {measured()}, gcc) == -1);
    CHECK(gained(ScalarCause::gather, {measured()}, gcc) == -1);
    model::PackedLoop longer = measured();
    longer.time_ns *= 2;
    longer.packed_ns = 0.8;
    CHECK(gained(ScalarCause::level, {measured(), longer, measured()}, gcc) == Approx(0.2)); // the one with most time
}

TEST_CASE("wider vectors are advised where they take clearly less and the options allow more") {
    Finding finding;
    finding.cost.fraction = 0.5;
    model::PackedLoop wide = measured();
    wide.wide_ns = 0.3;
    SampledLoop gcc = loop_of(code::Compiler::Kind::gcc);
    REQUIRE(set_measured_gain(gcc, ScalarCause::level, {wide}, 1, finding));
    REQUIRE(finding.advice.size() == 1);
    CHECK_THAT(finding.advice[0].what, Contains("-march=x86-64-v3"));
    CHECK_THAT(finding.advice[0].how, Contains("32 bytes as much took 0.30 ns"));
    const auto advised = [&](const SampledLoop& loop, double left) {
        finding.advice.clear();
        set_measured_gain(loop, ScalarCause::level, {wide}, left, finding);
        return !finding.advice.empty();
    };
    CHECK_FALSE(advised(gcc, 0.2)); // memory bandwidth is used up before
    wide.wide_ns = 0.55;
    CHECK_FALSE(advised(gcc, 1));
    wide.wide_ns = 0.3;
    gcc.compiler.names_processor = true;
    CHECK_FALSE(advised(gcc, 1));
}

TEST_CASE("a loop on vectors is measured with wider ones, one on single numbers is not") {
    const SampledLoop loop = loop_of(code::Compiler::Kind::gcc);
    Finding finding;
    finding.cost.fraction = 0.5;
    CHECK_FALSE(set_wider_gain(loop, {measured()}, 1, finding));
    model::PackedLoop wider = measured();
    wider.is_packed = true;
    wider.vector_bytes = 32;
    wider.packed_ns = 0.55;
    CHECK(gained(ScalarCause::level, {wider}, loop) == -1);
    REQUIRE(set_wider_gain(loop, {measured(), wider}, 1, finding));
    CHECK(finding.gain.fraction == Approx(0.5 * 0.45));
    CHECK_THAT(finding.gain.how, Contains("with vectors of 32 bytes: 1.00 ns a round, and 0.55 ns for as much"));
    REQUIRE(set_wider_gain(loop, {wider}, 0.2, finding));
    CHECK(finding.gain.fraction == Approx(0.5 * 0.2));
    CHECK_THAT(finding.gain.how, Contains("memory bandwidth leaves less"));
    wider.packed_ns = 1.3;
    REQUIRE(set_wider_gain(loop, {wider}, 1, finding));
    CHECK(finding.gain.fraction == 0);
    wider.round_ns = 2;
    CHECK_FALSE(set_wider_gain(loop, {wider}, 1, finding)); // it waits for what the replay has at hand
}
