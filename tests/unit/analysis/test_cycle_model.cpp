// What users write of the expected seconds of a cycle, and what is made of it.
#include "analysis/cycle_expectation.h"
#include "analysis/cycle_model.h"
#include "analysis/formula.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace plumb;
using Catch::Contains;

namespace {

double table(uint64_t ranks, const std::string& text) { return CycleModel::parse(text, "m.csv").expected_s(ranks); }

model::MpiJob job_of(size_t cycles, double first_s, double then_s) {
    model::MpiJob job;
    job.size = 4;
    job.cycles.count = cycles;
    double now_s = 0;
    for (size_t at = 0; at < cycles; ++at) {
        const double length_s = (2 * at < cycles ? first_s : then_s) * (1 + 0.01 * static_cast<double>(at % 7));
        job.cycles.series.push_back({at, 1, now_s, now_s + length_s, length_s, length_s, length_s});
        now_s += length_s;
    }
    job.cycles.mean_s = now_s / static_cast<double>(cycles);
    return job;
}

} // namespace

TEST_CASE("formulas of ranks follow the usual rules") {
    CHECK(value_of_formula("0.1 + 8/ranks", 16) == Approx(0.6));
    CHECK(value_of_formula("2*(3 - ranks)^2/4", 5) == Approx(2));
    CHECK(value_of_formula("-2^2 + 2^3^2", 1) == Approx(508));
    CHECK(value_of_formula("1e-3*log2(ranks) + 2^-1", 1024) == Approx(0.51));
    CHECK(value_of_formula("max(1, min(ranks, 7)) - 4 - 1", 100) == Approx(2));
    CHECK(value_of_formula("ceil(sqrt(ranks))/floor(2.5)", 10) == Approx(2));
    CHECK(value_of_formula("exp(log(ranks))", 3) == Approx(3));
    CHECK(std::isinf(value_of_formula("1/(ranks - 1)", 1)));
}

TEST_CASE("what is no formula is named by its column") {
    CHECK_THROWS_WITH(value_of_formula("0.1 + ", 2), Contains("column 7") && Contains("the formula ends"));
    CHECK_THROWS_WITH(value_of_formula("0.1 + 8/nodes", 2), Contains("column 9") && Contains("\"nodes\" is not known"));
    CHECK_THROWS_WITH(value_of_formula("(1 + ranks", 2), Contains("\")\" was expected"));
    CHECK_THROWS_WITH(value_of_formula("1 ranks", 2), Contains("column 3") && Contains("operator"));
    CHECK_THROWS_WITH(value_of_formula("min(ranks)", 2), Contains("\",\" was expected"));
    CHECK_THROWS_WITH(value_of_formula("2..3", 2), Contains("column 3"));
    CHECK_THROWS_WITH(value_of_formula("", 2), Contains("column 1"));
    CHECK_THROWS_AS(value_of_formula(std::string(100'000, '('), 2), Error);
    CHECK_THROWS_AS(value_of_formula(std::string(1'000, '2') + "^", 2), Error);
    std::string powers = "2";
    for (int i = 0; i < 100'000; ++i)
        powers += "^1";
    CHECK_THROWS_AS(value_of_formula(powers, 2), Error);
}

TEST_CASE("a table is interpolated between the logarithms, and not beyond its ends") {
    const std::string text = "# measured in spring\nranks,seconds_per_cycle\n\n8, 1.0\r\n2,4.0\n32,0.5\n";
    CHECK(table(2, text) == 4.0);
    CHECK(table(4, text) == Approx(2.0)); // T ~ 1/ranks between them
    CHECK(table(8, text) == 1.0);
    CHECK(table(16, text) == Approx(std::sqrt(0.5)));
    CHECK(table(32, text) == 0.5);
    CHECK_THROWS_WITH(table(64, text), Contains("from 2 to 32 ranks") && Contains("64 ranks"));
    CHECK_THROWS_WITH(table(1, text), Contains("1 rank"));
    CHECK(table(3, "3,0.25") == 0.25); // without a heading
    CHECK(CycleModel::parse("# by hand\n0.1 + 8/ranks\n", "m").expected_s(80) == Approx(0.2));
    CHECK(CycleModel::parse("0.5", "m").expected_s(80) == 0.5);
    CHECK(CycleModel::parse("max(0.1, 8/ranks)", "m").expected_s(80) == Approx(0.1));
    CHECK(CycleModel::parse("log2(ranks)", "m").expected_s(2) == Approx(1)); // 0 at one rank is an error only there
}

TEST_CASE("bad models: file, line and what is wrong") {
    const auto parse = [](const std::string& text) { return CycleModel::parse(text, "m.csv"); };
    CHECK_THROWS_WITH(parse("ranks,seconds_per_cycle\n2,4\nx,1\n"), Contains("m.csv, line 3") && Contains("\"x\" is not a number of ranks"));
    CHECK_THROWS_WITH(parse("2,4\n0,1\n"), Contains("m.csv, line 2"));
    CHECK_THROWS_WITH(parse("2,4\n-8,1\n"), Contains("\"-8\" is not a number of ranks"));
    CHECK_THROWS_WITH(parse("2,4\n8,0\n"), Contains("line 2") && Contains("seconds above 0"));
    CHECK_THROWS_WITH(parse("2,4\n8,nan\n"), Contains("\"nan\" is not a time"));
    CHECK_THROWS_WITH(parse("2,4\n8,1e999\n"), Contains("is not a time"));
    CHECK_THROWS_WITH(parse("2,4\n8,1 s\n"), Contains("\"1 s\" is not a time"));
    CHECK_THROWS_WITH(parse("2,4\n8\n"), Contains("line 2") && Contains("two columns"));
    CHECK_THROWS_WITH(parse("2,4\n8,1,3\n"), Contains("two columns"));
    CHECK_THROWS_WITH(parse("2,4\n8,1\n2,3\n"), Contains("line 3") && Contains("line 1 already"));
    CHECK_THROWS_WITH(parse("# nothing\n\n"), Contains("neither rows"));
    CHECK_THROWS_WITH(parse("ranks,seconds_per_cycle\n"), Contains("neither rows"));
    CHECK_THROWS_WITH(parse("#\n0.1 + 8/nodes\n"), Contains("m.csv, line 2: column 9"));
    CHECK_THROWS_WITH(parse("8/ranks\n4/ranks\n"), Contains("line 2") && Contains("one line"));
    CHECK_THROWS_WITH(parse("1 - ranks").expected_s(4), Contains("no time above 0 for 4 ranks"));
    CHECK_THROWS_WITH(CycleModel::read("/nonexistent/m.csv"), Contains("/nonexistent/m.csv") && Contains("No such file"));
}

TEST_CASE("a run beside its model: how many times as long, and since when") {
    const CycleModel model = CycleModel::parse("0.02", "m");
    const CycleExpectation slower = expectation_of(model, job_of(200, 0.02, 0.03));
    CHECK(slower.why_not.empty());
    CHECK(slower.ratio == Approx(1.25).epsilon(0.05));
    REQUIRE(slower.change);
    CHECK(slower.change->cycle == 100);
    CHECK(slower.change->at_s == Approx(2.06).epsilon(0.01));
    CHECK(slower.change->before == Approx(1.03).epsilon(0.02));
    CHECK(slower.change->after == Approx(1.545).epsilon(0.02));
    const CycleExpectation same = expectation_of(model, job_of(200, 0.03, 0.03));
    CHECK(same.ratio == Approx(1.5).epsilon(0.05));
    CHECK_FALSE(same.change);
    const CycleExpectation beyond = expectation_of(CycleModel::parse("8,1\n16,0.5\n", "m"), job_of(200, 0.02, 0.02));
    CHECK_THAT(beyond.why_not, Contains("from 8 to 16 ranks"));
    model::MpiJob none;
    none.size = 4;
    CHECK_THAT(expectation_of(model, none).why_not, Contains("no cycles"));
    none.epoch_stride = 8;
    CHECK_THAT(expectation_of(model, none).why_not, Contains("one in 8"));
}
