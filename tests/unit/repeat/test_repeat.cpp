// Whose turn it is in a series of runs, and what a series shows where runs of it failed.
#include "repeat/repetition.h"
#include "repeat/turns.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::repeat;

TEST_CASE("rounds alternate in their order, and a warm-up round is one of them") {
    std::string order, rounds;
    for (const Turn& turn : turns_of(2, 1, 4)) {
        order += static_cast<char>('a' + turn.command);
        rounds += turn.is_warm_up ? '-' : static_cast<char>('0' + turn.round);
    }
    CHECK(order == "abbaabbaab");
    CHECK(rounds == "--00112233");
    CHECK(turns_of(1, 0, 3).size() == 3);
    CHECK(turns_of(2, 0, 0).empty());
}

TEST_CASE("only rounds in which both commands have a run that counts are compared") {
    SeriesOptions options;
    options.commands = {{"base", {"a"}}, {"versus", {"b"}}};
    options.rounds = 8;
    SeriesResult result;
    std::vector<RunFigures> figures;
    for (size_t round = 0; round < 8; ++round)
        for (size_t command = 0; command < 2; ++command) {
            if (round == 3 && command == 1) {
                result.failed.push_back({command, round, "", 1});
                continue;
            }
            RunFigures one;
            one.program = command == 0 ? "a" : "b";
            one.wall_s = (command == 0 ? 1.0 : 1.1) * static_cast<double>(1 + round); // the machine becomes slower and slower
            one.cpu_s = one.wall_s;
            result.runs.push_back({command, round, "", 0});
            figures.push_back(one);
        }
    const Repetition repetition = repetition_of(options, result, figures);
    REQUIRE(repetition.commands.size() == 2);
    CHECK(repetition.commands[0].runs.size() == 8);
    CHECK(repetition.commands[1].failed.size() == 1);
    CHECK(repetition.commands[0].wall_s->median == Approx(4.5));
    REQUIRE(repetition.comparison);
    CHECK(repetition.comparison->base_runs == 7);
    CHECK(repetition.comparison->other_runs == 7);
    CHECK(repetition.comparison->wall.difference.ratio == Approx(1.1));
    CHECK(repetition.comparison->wall.has_changed());
}

TEST_CASE("a series without a run that counts has no figures") {
    SeriesOptions options;
    options.commands = {{"runs", {"a"}}};
    SeriesResult result;
    result.failed = {{0, 0, "", 1}};
    const Repetition repetition = repetition_of(options, result, {});
    CHECK_FALSE(repetition.commands[0].wall_s);
    CHECK_FALSE(repetition.comparison);
}
