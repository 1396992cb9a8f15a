// Recorded events, played again; and the work of recorded ranks.
#include "simulate/recorded_events.h"
#include "simulate/work_pattern.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using namespace plumb;
using namespace plumb::simulate;

namespace {

constexpr double kSpan_s = 10;

// Two nodes with two CPUs; the second CPU of the first node loses most.
std::shared_ptr<const model::NoiseLosses> losses_of_four_cpus() {
    model::NoiseLosses losses{.losses = {}, .nodes = 2, .cpus_per_node = 2, .measured_s = kSpan_s, .least_s = 0};
    losses.losses = {{0, 0, 1.0, 0.1}, {0, 1, 1.0, 0.2}, {0, 1, 4.0, 0.3}, {0, 1, 9.5, 0.6}, {1, 1, 7.0, 0.4}};
    return std::make_shared<const model::NoiseLosses>(std::move(losses));
}

std::map<double, double> played(const RecordedEvents& events, uint32_t node, uint32_t cpu, double from_s, double to_s) {
    std::map<double, double> result; // length by begin
    const auto take = [&](int64_t number, double begin_s) { result[begin_s] = events.length_s(number); };
    events.for_each(node, cpu, from_s, to_s, take);
    return result;
}

} // namespace

TEST_CASE("in any stretch as long as the recording each recorded event comes once, at its distance from the others") {
    const RecordedEvents events(losses_of_four_cpus(), 3, false);
    for (const double from_s : {0.0, 0.3, 5.0, 1234.5}) {
        const auto of_cpu = played(events, 0, 1, from_s, from_s + kSpan_s);
        REQUIRE(of_cpu.size() == 3);
        double sum_s = 0;
        for (const auto& [begin_s, length_s] : of_cpu)
            sum_s += length_s;
        CHECK(sum_s == Approx(1.1));
        const auto other = played(events, 0, 0, from_s, from_s + kSpan_s);
        REQUIRE(other.size() == 1);
        CHECK(of_cpu.contains(other.begin()->first)); // what happened at once on two CPUs of a node still does
    }
    CHECK(played(events, 1, 0, 0, 100).empty());
    CHECK(played(events, 0, 1, 0, 100).size() == 30);
}

TEST_CASE("the events of a stretch are those of its parts") {
    const RecordedEvents events(losses_of_four_cpus(), 1, false);
    const auto whole = played(events, 0, 1, 0, 60);
    std::map<double, double> parts;
    for (int part = 0; part < 600; part++)
        for (const auto& event : played(events, 0, 1, part * 0.1, (part + 1) * 0.1))
            CHECK(parts.insert(event).second);
    CHECK(parts == whole);
}

TEST_CASE("copies of a node play their events at moments of their own, or all at once those of the most disturbed") {
    const RecordedEvents apart(losses_of_four_cpus(), 1, false), together(losses_of_four_cpus(), 1, true);
    CHECK(played(apart, 0, 1, 0, kSpan_s) != played(apart, 2, 1, 0, kSpan_s));
    CHECK(played(apart, 3, 1, 0, kSpan_s).size() == 1); // the second copy of the second node
    for (const uint32_t node : {1u, 2u, 7u})
        CHECK(played(together, node, 1, 0, kSpan_s) == played(together, 0, 1, 0, kSpan_s));
}

TEST_CASE("a pattern of work gives back what it was made of") {
    const std::vector<double> work_s = {1, 3, 0, 0, 2, 6}; // three steps of two ranks
    const WorkPattern pattern(2, work_s);
    CHECK(pattern.mean_s() == Approx(2));
    for (uint32_t step = 0; step < 3; step++)
        for (uint32_t rank = 0; rank < 2; rank++) {
            CHECK(pattern.mean_s() * pattern.share(rank, step) == Approx(work_s[step * 2 + rank]));
            CHECK(pattern.share(rank, step) == pattern.share(rank, step + 3));
        }
    CHECK(pattern.mean_s() * pattern.largest_share(2, 2) == Approx(6));
    CHECK(pattern.mean_s() * pattern.largest_share(1, 2) == Approx(2)); // of a job without the second rank
}

TEST_CASE("copies of ranks have as much work of each kind, and what all ranks do in a step stays in that step") {
    std::vector<double> work_s;
    for (int step = 0; step < 60; step++)
        for (int rank = 0; rank < 2; rank++)
            work_s.push_back((step % 15 == 0 ? 10 : 1) * (step % 2 == rank ? 1.5 : 0.5));
    const WorkPattern pattern(2, work_s);
    for (const uint32_t rank : {0u, 2u, 5u, 101u}) {
        double sum = 0;
        for (uint32_t step = 0; step < 60; step++) {
            sum += pattern.share(rank, step);
            CHECK((pattern.share(rank, step) * pattern.mean_s() > 4) == (step % 15 == 0));
        }
        CHECK(sum == Approx(60).epsilon(1e-5));
    }
    double most = 0;
    for (uint32_t rank = 0; rank < 9; rank++)
        most = std::max(most, pattern.share(rank, 7));
    CHECK(pattern.largest_share(9, 7) == Approx(most));
}
