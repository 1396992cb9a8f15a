// Sets of made-up runs, of which it is known what changed.
#include "compare/comparison.h"
#include "compare/limit.h"
#include "support/error.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

class MadeUpRuns {
  public:
    explicit MadeUpRuns(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

    // `slower`: of the line "work"; each run is off by up to 2 %.
    std::vector<RunFigures> draw(size_t count, double slower, bool has_finding = true) {
        std::vector<RunFigures> runs;
        while (runs.size() < count) {
            const double off = 1 + 0.02 * fraction();
            RunFigures run;
            run.program = "./solver 100";
            run.lines = {{{"work", "solver", "solver.c", 10, {}, 0, {}}, 8 * slower * off},
                         {{"rest", "solver", "solver.c", 20, {}, 0, {}}, 2 * off * (1 + 0.01 * fraction())}};
            run.build_ids = {{"solver", "0123"}};
            run.libraries_s = {{"solver", 10 * off}};
            run.wall_s = run.cpu_s = run.lines[0].seconds + run.lines[1].seconds;
            run.metrics = {{"heap peak", 1e6 * (1 + 0.01 * fraction())}};
            run.units = {{"heap peak", "bytes"}};
            run.findings["heap-temporary in solve"] = {"temporaries", 0.1 + 0.01 * fraction(), Severity::high};
            if (has_finding)
                run.findings["page-size: variable table"] = {"small pages", 0.2, Severity::high};
            runs.push_back(std::move(run));
        }
        return runs;
    }

  private:
    double fraction() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
    Xorshift random_;
};

} // namespace

TEST_CASE("what became slower is found, with its line, and nothing else") {
    MadeUpRuns runs(1);
    const Comparison comparison = compare_runs(runs.draw(8, 1), runs.draw(8, 1.05, false));
    CHECK(comparison.is_known());
    CHECK(comparison.wall.has_changed());
    CHECK(comparison.wall.difference.ratio == Approx(1.04).epsilon(0.01));
    REQUIRE(comparison.lines.size() == 2);
    CHECK(comparison.lines[0].name == "work at solver.c:10");
    CHECK(comparison.lines[0].has_changed);
    CHECK(comparison.lines[0].seconds.more == Approx(0.4).epsilon(0.2));
    CHECK_FALSE(comparison.lines[1].has_changed);
    REQUIRE(comparison.metrics.size() == 1);
    CHECK_FALSE(comparison.metrics[0].has_changed());
    REQUIRE(comparison.findings.size() == 2);
    CHECK(comparison.findings[0].kind == FindingChange::Kind::gone);
    CHECK(comparison.findings[0].key == "page-size: variable table");
    CHECK(comparison.findings[1].kind == FindingChange::Kind::same);
}

TEST_CASE("sets without a difference are seldom said to have one, and then no line is without the whole") {
    int wall = 0, findings = 0, lines = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        MadeUpRuns runs(seed);
        const Comparison comparison = compare_runs(runs.draw(5, 1), runs.draw(5, 1));
        wall += comparison.wall.has_changed();
        for (const ComparedAmount& line : comparison.lines) {
            lines += line.has_changed;
            CHECK((!line.has_changed || comparison.wall.has_changed() || comparison.cpu.has_changed()));
        }
        findings += comparison.findings[0].kind != FindingChange::Kind::same;
    }
    CHECK(wall < 20);
    CHECK(findings < 20);
    CHECK(lines < 40);
}

TEST_CASE("of single runs figures are given, and no verdict") {
    MadeUpRuns runs(1);
    const Comparison comparison = compare_runs(runs.draw(1, 1), runs.draw(1, 2));
    CHECK_FALSE(comparison.is_known());
    CHECK_FALSE(comparison.wall.has_changed());
    CHECK(comparison.wall.difference.ratio > 1.5);
    CHECK_FALSE(comparison.lines[0].has_changed);
    CHECK_THROWS_WITH(is_broken(parse_limit("wall > +3%"), comparison), Catch::Contains("1 and 1 runs are too few"));
}

TEST_CASE("a small change of a count is one, and of a time says nothing of the program") {
    std::vector<RunFigures> base(8), other;
    for (RunFigures& run : base) {
        run.wall_s = run.cpu_s = 10;
        run.metrics = {{"MPI calls", 100000}, {"peak", 1e9}, {"mean cycle", 0.2}, {"faults", 5000}, {"load balance", 0.9}};
        run.units = {{"MPI calls", "count"}, {"peak", "bytes"}, {"mean cycle", "seconds"}, {"faults", "per second"},
                     {"load balance", "fraction"}};
    }
    other = base;
    for (RunFigures& run : other) {
        run.wall_s *= 1.003;
        for (auto& [name, value] : run.metrics)
            value *= 1.003;
    }
    const Comparison comparison = compare_runs(base, other);
    CHECK_FALSE(comparison.wall.has_changed());
    CHECK_FALSE(comparison.cpu.has_changed());
    std::vector<std::string> changed;
    for (const ComparedFigure& metric : comparison.metrics)
        if (metric.has_changed())
            changed.push_back(metric.name);
    CHECK_THAT(changed, Catch::UnorderedEquals(std::vector<std::string>{"MPI calls", "peak"}));
    CHECK(is_broken(parse_limit("MPI calls > +0.2%"), comparison));
    CHECK_FALSE(is_broken(parse_limit("MPI calls > +0.4%"), comparison));
    for (const char* text : {"wall > +0.2%", "cpu > 0%", "mean cycle < -0.4%", "load balance > 0.1%"})
        CHECK_THROWS_WITH(is_broken(parse_limit(text), comparison), Catch::Contains("0.5 % is the smallest limit"));
    CHECK_FALSE(is_broken(parse_limit("wall > +0.5%"), comparison));
    CHECK_FALSE(is_broken(parse_limit("wall < -0.5%"), comparison));
}

TEST_CASE("different programs are listed, and findings that come and go are not gone") {
    MadeUpRuns runs(1);
    auto base = runs.draw(6, 1), other = runs.draw(6, 1);
    other[0].program = "./solver 200";
    for (size_t i = 0; i < 3; i++)
        base[i].findings.erase("page-size: variable table");
    for (RunFigures& run : other)
        run.findings.erase("page-size: variable table");
    const Comparison comparison = compare_runs(base, other);
    CHECK(comparison.programs == std::vector<std::string>{"./solver 100", "./solver 200"});
    for (const FindingChange& change : comparison.findings)
        CHECK(change.kind == FindingChange::Kind::same);
}

TEST_CASE("limits are broken by certain changes beyond them") {
    MadeUpRuns runs(1);
    const Comparison slower = compare_runs(runs.draw(8, 1), runs.draw(8, 1.1)), same = compare_runs(runs.draw(8, 1), runs.draw(8, 1));
    CHECK(is_broken(parse_limit("wall > +3%"), slower));
    CHECK(is_broken(parse_limit("cpu>5%"), slower));
    CHECK_FALSE(is_broken(parse_limit("wall > +20%"), slower));
    CHECK_FALSE(is_broken(parse_limit("wall < -3%"), slower));
    CHECK_FALSE(is_broken(parse_limit("wall > +3%"), same));
    CHECK(is_broken(parse_limit("wall < -3%"), compare_runs(runs.draw(8, 1.2), runs.draw(8, 1))));
    CHECK_THROWS_WITH(is_broken(parse_limit("wool > +3%"), slower), Catch::Contains("There are: wall, cpu, heap peak"));
    for (const char* text : {"", "wall", "wall > ", "wall > 3", "> 3%", "wall > x%", "wall > -100%", "wall > nan%"})
        CHECK_THROWS_AS(parse_limit(text), UsageError);
}
