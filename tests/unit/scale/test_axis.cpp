// Points of a sweep, and the commands that they become.
#include "scale/sweep.h"
#include "scale/thread_check.h"
#include "support/error.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::scale;

namespace {

using Words = std::vector<std::string>;

std::string texts_of(const std::vector<PointValue>& points) {
    std::string text;
    for (const PointValue& point : points)
        text += (text.empty() ? "" : ",") + point.text;
    return text;
}

} // namespace

TEST_CASE("a placeholder is replaced wherever it stands, and others are left alone") {
    CHECK(filled({"a", "-n{ranks}", "{ranks}x{ranks}", "{size}"}, "{ranks}", "12") == Words{"a", "-n12", "12x12", "{size}"});
    CHECK(holds({"a", "-n{ranks}"}, "{ranks}"));
    CHECK_FALSE(holds({"a", "{rank"}, "{ranks}"));
}

TEST_CASE("points by default are the powers of two and the number of CPUs") {
    CHECK(texts_of(default_points(1)) == "1");
    CHECK(texts_of(default_points(2)) == "1,2");
    CHECK(texts_of(default_points(8)) == "1,2,4,8");
    CHECK(texts_of(default_points(12)) == "1,2,4,8,12");
}

TEST_CASE("lists are sorted, and what is no number of parts is refused") {
    CHECK(texts_of(parse_points(Axis::threads, "4,1,2,4")) == "1,2,4");
    CHECK(texts_of(parse_points(Axis::size, "1e3,0.5,200")) == "0.5,200,1e3");
    for (const char* const list : {"", "1,", ",1", "0", "-1", "1.5", "x", "1 2", "2x", "1e99", "nan"})
        CHECK_THROWS_AS(parse_points(Axis::ranks, list), Error);
    for (const char* const list : {"0", "-2", "inf", "nan", "a"})
        CHECK_THROWS_AS(parse_points(Axis::size, list), Error);
}

TEST_CASE("the axis is that of the list, of the placeholder, or the threads of OpenMP") {
    const Sweep ranks = sweep_of({"mpirun", "-n{ranks}", "a"}, {.ranks = "1,3"}, 8);
    CHECK(ranks.axis == Axis::ranks);
    CHECK(ranks.commands[1].words == Words{"mpirun", "-n3", "a"});
    CHECK(ranks.commands[1].set == "ranks-3");
    CHECK(ranks.commands[1].environment.empty());
    const Sweep threads = sweep_of({"a", "{threads}"}, {}, 4);
    CHECK(threads.axis == Axis::threads);
    CHECK_FALSE(threads.is_by_environment);
    CHECK(texts_of(threads.points) == "1,2,4");
    const Sweep environment = sweep_of({"a"}, {}, 2);
    CHECK(environment.is_by_environment);
    CHECK(environment.commands[1].environment == Words{"OMP_NUM_THREADS=2"});
    CHECK(environment.commands[1].words == Words{"a"});
    CHECK(sweep_of({"a", "{copy}"}, {}, 2).axis == Axis::copies);
    const Sweep around = sweep_of({"a"}, {.size = "5,10"}, 2, "fill {size}"); // the program itself is the same at all points
    CHECK(around.commands.at(1).words == std::vector<std::string>{"a"});
    CHECK(around.commands.at(1).prepare == "fill 10");
    CHECK_FALSE(around.is_by_environment);
    CHECK(sweep_of({"awk", "{size}", "{ranks}"}, {.ranks = "1"}, 2).axis == Axis::ranks); // the list says which
}

TEST_CASE("what cannot be a sweep is an error") {
    CHECK_THROWS_AS(sweep_of({"a", "{threads}", "{ranks}"}, {}, 2), Error);
    CHECK_THROWS_AS(sweep_of({"a"}, {.ranks = "1,2"}, 2), Error);
    CHECK_THROWS_AS(sweep_of({"a"}, {.size = "1,2"}, 2), Error);
    CHECK_THROWS_AS(sweep_of({"a", "{size}"}, {}, 2), Error);
    CHECK_THROWS_AS(sweep_of({"a"}, {.threads = "1", .copies = "1"}, 2), Error);
}

TEST_CASE("copies are started by a shell that quotes what it must") {
    const Words words = copies_command({"echo", "it's {copy}", "$HOME"}, 2);
    REQUIRE(words.size() == 3);
    CHECK(words[0] == "/bin/sh");
    CHECK(words[2].find("it'\\''s 0") != std::string::npos);
    CHECK(words[2].find("it'\\''s 1") != std::string::npos);
    CHECK(words[2].find("'$HOME'") != std::string::npos);
}

TEST_CASE("a command that has as many threads at all points does not follow OMP_NUM_THREADS") {
    ThreadCheck same(2), other(2), single(1);
    CHECK(same.saw(0, 3).empty());
    CHECK_FALSE(same.is_done());
    CHECK(same.saw(1, 3).find("3 threads whatever") != std::string::npos);
    CHECK(other.saw(0, 1).empty());
    CHECK(other.saw(1, 2).empty());
    CHECK(single.saw(0, 1).empty());
}
