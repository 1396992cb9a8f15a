// Lines of two made-up builds: moved, repeated, changed; without their source; and of one build.
#include "compare/comparison.h"
#include "compare/match_places.h"
#include "compare/source_lines.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

ComparedPlace place(uint32_t line, const std::string& text, uint32_t ordinal = 0, const std::string& function = "work") {
    return {function, "solver", "solver.c", line, text, ordinal, {}};
}

RunFigures run_of(const std::string& build, const std::vector<std::pair<ComparedPlace, double>>& lines) {
    RunFigures run;
    run.program = "./solver";
    run.wall_s = run.cpu_s = 0;
    run.build_ids = {{"solver", build}};
    for (const auto& [where, seconds] : lines) {
        run.lines.push_back({where, seconds});
        run.wall_s += seconds;
        run.cpu_s += seconds;
        run.source_texts["solver.c"].insert(where.text);
    }
    return run;
}

const ComparedAmount& line_named(const Comparison& comparison, const std::string& name) {
    for (const ComparedAmount& one : comparison.lines)
        if (one.name == name)
            return one;
    FAIL("there is no line " << name);
    return comparison.lines.front();
}

} // namespace

TEST_CASE("lines that moved are the same by their text, and of several with one text by their order in the function") {
    const Comparison comparison =
        compare_runs({run_of("a", {{place(10, "a += b;"), 1}, {place(12, "c();", 0), 2}, {place(14, "c();", 1), 3}})},
                     {run_of("b", {{place(15, "a += b;"), 1}, {place(17, "c();", 0), 5}, {place(19, "c();", 1), 3}})});
    REQUIRE(comparison.lines.size() == 3);
    CHECK(comparison.line_notes.empty());
    CHECK(line_named(comparison, "work at solver.c:12 -> 17").seconds.more == Approx(3));
    CHECK(line_named(comparison, "work at solver.c:14 -> 19").seconds.more == Approx(0).margin(1e-9));
    CHECK(line_named(comparison, "work at solver.c:10 -> 15").seconds.more == Approx(0).margin(1e-9));
}

TEST_CASE("the only line of a function whose text is new is the one whose text is gone") {
    const std::pair<ComparedPlace, double> rest{place(20, "rest();"), 1};
    const Comparison changed = compare_runs({run_of("a", {{place(10, "x *= 3;"), 1}, rest})},
                                            {run_of("b", {{place(11, "x *= 5;"), 2}, rest})});
    REQUIRE(changed.lines.size() == 2);
    CHECK(line_named(changed, "work at solver.c:10 -> 11").seconds.more == Approx(1));
    // The text is there in both, and only has no samples in the one: it is not the changed line.
    RunFigures base = run_of("a", {{place(10, "x *= 3;"), 1}, rest}), other = run_of("b", {{place(11, "x *= 5;"), 2}, rest});
    other.source_texts["solver.c"].insert("x *= 3;");
    CHECK(compare_runs({base}, {other}).lines.size() == 3);
    // Of two changed lines it is not known which is which.
    const Comparison two = compare_runs({run_of("a", {{place(10, "x *= 3;"), 1}, {place(11, "y *= 3;"), 1}})},
                                        {run_of("b", {{place(10, "x *= 5;"), 1}, {place(11, "y *= 5;"), 1}})});
    CHECK(two.lines.size() == 4);
}

TEST_CASE("another function's line is another line, whatever its text") {
    const Comparison comparison = compare_runs({run_of("a", {{place(10, "a += b;"), 1}})},
                                               {run_of("b", {{place(10, "a += b;", 0, "other"), 1}})});
    CHECK(comparison.lines.size() == 2);
}

TEST_CASE("without a source of both builds lines go by number, and the report says so") {
    ComparedPlace unread = place(15, "");
    unread.why_no_text = "cannot be read here";
    const auto base = run_of("a", {{place(10, "a += b;"), 1}});
    const Comparison comparison = compare_runs({base}, {run_of("b", {{unread, 1}})});
    CHECK(comparison.lines.size() == 2);
    REQUIRE(comparison.line_notes.size() == 1);
    CHECK(comparison.line_notes[0].find("Lines of solver.c are matched by number") == 0);
    CHECK(comparison.line_notes[0].find("the source of the others cannot be read here") != std::string::npos);
    // Of one build numbers are right, and nothing need be said.
    unread.line = 10;
    const Comparison same = compare_runs({base}, {run_of("a", {{unread, 1}})});
    CHECK(same.lines.size() == 1);
    CHECK(same.line_notes.empty());
}

TEST_CASE("white space is no difference of lines") {
    CHECK(folded_line("\t  if (a)   {\t") == "if (a) {");
    CHECK(folded_line(" \r") == "");
    CHECK(folded_line("x=1") != folded_line("x =1")); // inside a token or not is for the compiler to say
}

TEST_CASE("exact counts that are the same in all runs of a side need two runs each, estimates more") {
    const auto counts = [](double calls, bool exact) {
        RunFigures run = run_of("a", {{place(10, "a"), 1}});
        run.allocations = {{place(30, "malloc(8)"), calls, 8 * calls}};
        run.mpi_sites = {{place(40, "send"), "MPI_Send", calls, 100, 0.5}};
        run.allocations_are_exact = exact;
        return run;
    };
    const auto changed = [&](const std::vector<double>& base, const std::vector<double>& other, bool exact) {
        std::vector<RunFigures> base_runs, other_runs;
        for (const double calls : base)
            base_runs.push_back(counts(calls, exact));
        for (const double calls : other)
            other_runs.push_back(counts(calls, exact));
        return compare_runs(base_runs, other_runs);
    };
    const Comparison certain = changed({10'000, 10'000}, {20'000, 20'000}, true);
    REQUIRE(certain.allocations.size() == 1);
    CHECK(certain.allocations[0].name == "work at solver.c:30");
    CHECK(certain.allocations[0].calls_changed);
    CHECK(certain.allocations[0].bytes_changed);
    CHECK(certain.allocations_are_exact);
    REQUIRE(certain.mpi_sites.size() == 1);
    CHECK(certain.mpi_sites[0].name == "MPI_Send in work at solver.c:40");
    CHECK(certain.mpi_sites[0].calls_changed);
    CHECK_FALSE(certain.mpi_sites[0].bytes_changed);
    CHECK_FALSE(certain.mpi_sites[0].seconds_changed);
    CHECK_FALSE(changed({10'000}, {20'000}, true).allocations[0].has_changed());               // one run shows no noise
    CHECK_FALSE(changed({10'000, 10'000}, {20'000, 20'000}, false).allocations[0].has_changed()); // estimates
    CHECK_FALSE(changed({10'000, 10'001}, {20'000, 20'000}, true).allocations[0].has_changed());
    CHECK_FALSE(changed({10'000, 10'000}, {10'000, 10'000}, true).allocations[0].has_changed());
    CHECK(changed({10'000, 10'010, 10'020, 10'030}, {20'000, 20'010, 20'020, 20'030}, false).allocations[0].has_changed());
}

TEST_CASE("call trees of both sides are one by the names of functions, as means that add up") {
    const auto tree = [](double solve_s, double extra_s) {
        RunFigures run = run_of("a", {{place(10, "a"), solve_s + extra_s}});
        run.call_tree.children = {{"main", "solver", TimeClass::computing, solve_s + extra_s, {}}};
        run.call_tree.seconds = solve_s + extra_s;
        auto& children = run.call_tree.children[0].children;
        children.push_back({"solve", "solver", TimeClass::computing, solve_s, {}});
        if (extra_s > 0)
            children.push_back({"extra", "solver-new", TimeClass::computing, extra_s, {}});
        return run;
    };
    std::vector<RunFigures> base, other;
    for (int i = 0; i < 5; ++i) {
        base.push_back(tree(2 + 0.01 * i, 0));
        other.push_back(tree(2 + 0.01 * i, 1));
    }
    const MergedFrame root = compare_runs(base, other).call_tree;
    REQUIRE(root.children.size() == 1);
    const MergedFrame& main = root.children[0];
    CHECK(main.has_changed);
    REQUIRE(main.children.size() == 2);
    CHECK(main.children[0].name == "solve");
    CHECK_FALSE(main.children[0].has_changed);
    CHECK(main.children[1].name == "extra");
    CHECK(main.children[1].has_changed);
    CHECK(main.children[1].base_s == 0);
    CHECK(main.children[1].other_s == Approx(1));
    CHECK(main.other_s == Approx(main.children[0].other_s + main.children[1].other_s));
    // Fewer runs: the same means, and nothing is certain.
    CHECK_FALSE(compare_runs({base[0]}, {other[0]}).call_tree.children[0].children[1].has_changed);
}
