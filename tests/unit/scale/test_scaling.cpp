// The best point of a sweep, and what grows behind it.
#include "scale/scaling.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::scale;

namespace {

constexpr size_t kRounds = 6;

struct Made {
    double time_s;
    std::map<std::string, double> lines_s = {};
};

// Each run of a round is as much slower than in the first round as the others of that round; `scatter` is of a single run.
SweepRuns sweep_with(Axis axis, const std::vector<std::pair<double, Made>>& points, double scatter = 0.004,
                     size_t rounds = kRounds) {
    SweepRuns runs;
    runs.sweep.axis = axis;
    runs.options.rounds = rounds;
    for (const auto& [value, made] : points) {
        runs.sweep.points.push_back({std::to_string(static_cast<int>(value)), value});
        runs.sweep.commands.push_back({"set", {"a"}});
    }
    for (size_t round = 0; round < rounds; ++round)
        for (size_t point = 0; point < points.size(); ++point) {
            const double slow = 1 + 0.05 * static_cast<double>(round),
                         off = 1 + scatter * static_cast<double>((round * 7 + point * 3) % 5);
            const Made& made = points[point].second;
            RunFacts facts;
            facts.time_s = made.time_s * slow * off;
            if (axis == Axis::copies)
                facts.copies_s.assign(static_cast<size_t>(points[point].first), facts.time_s);
            for (const auto& [line, seconds] : made.lines_s) {
                facts.lines_s[line] = seconds * off;
                facts.cpu_s += seconds * off;
            }
            facts.thread_s = facts.cpu_s;
            facts.classes_s["computing"] = facts.cpu_s;
            runs.result.runs.push_back({point, round, "", 0});
            runs.facts.push_back(facts);
        }
    return runs;
}

} // namespace

TEST_CASE("the best point is the one with the least time, and the fewest parts where that cannot be said") {
    const Scaling clear = scaling_of(sweep_with(Axis::threads, {{1, {8}}, {2, {4.2}}, {4, {2.4}}, {8, {3}}}), 8);
    CHECK(clear.best == 2);
    CHECK(clear.alike.empty());
    CHECK(clear.points[1].speed_up == Approx(8 / 4.2).epsilon(0.02));
    CHECK(clear.points[1].efficiency == Approx(4 / 4.2).epsilon(0.02));
    const Scaling flat = scaling_of(sweep_with(Axis::threads, {{1, {8}}, {2, {4}}, {4, {3.98}}, {8, {4.01}}}, 0.02), 8);
    CHECK(flat.best == 1);
    CHECK(flat.alike == std::vector<size_t>{2, 3});
    CHECK(flat.best_is_known);
}

TEST_CASE("memory bandwidth is the limit where a full memory gives several threads less than each alone would get") {
    const auto limit = [](double roof_fraction, double roof_times_one_thread, double time_fraction) {
        SweepRuns runs = sweep_with(Axis::threads, {{1, {8}}, {2, {5}}, {4, {5}}});
        for (size_t i = 0; i < runs.facts.size(); ++i) {
            BandwidthSummary& memory = runs.facts[i].bandwidth.emplace();
            memory.threads = runs.sweep.points[runs.result.runs[i].command].value;
            memory.bytes_per_s = 2e10;
            memory.roof_fraction = roof_fraction * (runs.result.runs[i].round == 2 ? 5 : 1); // medians
            memory.roof_times_one_thread = memory.threads == 1 ? 1 : roof_times_one_thread;
            memory.time_fraction = time_fraction;
        }
        return scaling_of(runs, 4).bandwidth_limit;
    };
    CHECK(limit(0.97, 1.4, 0.9) == 1);
    CHECK(limit(0.97, 1.9, 0.9) == 2);       // 2 threads still get nearly twice as much
    CHECK_FALSE(limit(0.97, 1.4, 0.3));      // most of the time is spent elsewhere
    CHECK_FALSE(limit(0.6, 1.4, 0.9));       // memory could give more
    CHECK_FALSE(limit(0.97, 0, 0.9));        // no test of one thread
    CHECK_FALSE(scaling_of(sweep_with(Axis::threads, {{1, {8}}, {2, {5}}}), 4).bandwidth_limit);
}

TEST_CASE("of few runs the smallest median is named, and that it may be chance") {
    const Scaling scaling = scaling_of(sweep_with(Axis::threads, {{1, {2}}, {2, {1.9}}}, 0.1, 3), 2);
    CHECK(scaling.best == 1);
    CHECK_FALSE(scaling.best_is_known);
    CHECK(scaling.alike.empty());
    CHECK_FALSE(scaling.points[0].time_s->is_known);
}

TEST_CASE("a point whose runs all failed is left out") {
    SweepRuns runs = sweep_with(Axis::threads, {{1, {4}}, {2, {2}}, {4, {1}}});
    for (size_t i = runs.result.runs.size(); i-- > 0;)
        if (runs.result.runs[i].command == 2) {
            runs.result.failed.push_back({2, runs.result.runs[i].round, "", 1});
            runs.result.runs.erase(runs.result.runs.begin() + static_cast<std::ptrdiff_t>(i));
            runs.facts.erase(runs.facts.begin() + static_cast<std::ptrdiff_t>(i));
        }
    const Scaling scaling = scaling_of(runs, 4);
    CHECK(scaling.best == 1);
    CHECK_FALSE(scaling.points[2].time_s);
    CHECK(scaling.points[2].failed.size() == kRounds);
    REQUIRE(scaling.growth);
    CHECK(scaling.growth->to == 1);
}

TEST_CASE("a sweep without any run that counts has no figures") {
    SweepRuns runs = sweep_with(Axis::threads, {{1, {4}}});
    runs.result.runs.clear();
    runs.facts.clear();
    const Scaling scaling = scaling_of(runs, 4);
    CHECK_FALSE(scaling.first);
    CHECK_FALSE(scaling.growth);
    CHECK_FALSE(scaling.fit);
}

TEST_CASE("the line that grows behind the best point is found, and the one that does not is not") {
    const auto point = [](double time_s, double table_s) {
        return Made{time_s, {{"sweep at relax.f90:31", table_s}, {"fill at a.c:2", 1}}};
    };
    SweepRuns runs = sweep_with(Axis::threads, {{1, point(4, 3)}, {2, point(2, 3)}, {4, point(1.3, 3)}, {8, point(1.6, 9)}});
    for (size_t i = 0; i < runs.facts.size(); ++i)
        if (runs.result.runs[i].command == 3)
            runs.facts[i].findings = {
                {"memory-hot-node", "table lies on node 0", 0.4, {{"/src/relax.f90", "sweep", "a.out", 31, 1, ""}}}};
    const Scaling scaling = scaling_of(runs, 8);
    REQUIRE(scaling.growth);
    const Growth& growth = *scaling.growth;
    CHECK(growth.from == 2);
    CHECK(growth.to == 3);
    CHECK(growth.is_certain);
    REQUIRE(growth.lines.size() == 2);
    CHECK(growth.lines[0].name == "sweep at relax.f90:31");
    CHECK(growth.lines[0].grows);
    CHECK(growth.lines[0].seconds.more == Approx(6).epsilon(0.02));
    CHECK(growth.lines[0].finding == "memory-hot-node");
    CHECK_FALSE(growth.lines[1].grows);
    CHECK(growth.lines[1].finding.empty());
    REQUIRE(growth.findings.size() == 1);
    CHECK(growth.findings[0].id == "memory-hot-node");
}

TEST_CASE("where the total is the same, lines that differ by chance do not grow") {
    const auto point = [](double time_s, double a_s) { return Made{time_s, {{"a", a_s}, {"b", 4 - a_s}}}; };
    const Scaling scaling = scaling_of(sweep_with(Axis::threads, {{1, point(4, 2)}, {2, point(2, 2.001)}}, 0), 2);
    REQUIRE(scaling.growth);
    CHECK_FALSE(scaling.growth->lines[0].grows);
    CHECK_FALSE(scaling.growth->lines[1].grows);
}

TEST_CASE("copies that share nothing do their work as fast as one; those that do take longer each") {
    const Scaling apart = scaling_of(sweep_with(Axis::copies, {{1, {1}}, {2, {1}}, {4, {1.01}}}), 4);
    CHECK(apart.best == 2);
    CHECK(apart.points[2].speed_up == Approx(4).epsilon(0.02));
    const Scaling together = scaling_of(sweep_with(Axis::copies, {{1, {1}}, {2, {1}}, {4, {2.1}}, {8, {4.6}}}), 2);
    CHECK(together.best == 1);
    CHECK(together.points[3].to_first.ratio == Approx(4.6).epsilon(0.02));
    REQUIRE(together.fit);
    CHECK(together.fit->saturation);
}

TEST_CASE("of a size nothing is the best, and its exponent is found") {
    const Scaling scaling = scaling_of(sweep_with(Axis::size, {{10, {1}}, {20, {8}}, {40, {64}}}), 4);
    CHECK_FALSE(scaling.best);
    REQUIRE(scaling.exponent);
    CHECK(scaling.exponent->exponent == Approx(3).epsilon(0.01));
    CHECK(scaling.exponent->exponent_95.low > 2.95);
    CHECK(scaling.exponent->exponent_95.high < 3.05);
}
