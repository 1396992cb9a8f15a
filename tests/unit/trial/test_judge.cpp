// Which runs of a contest count, and when a cure has changed what the program does.
#include "trial/judge.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace plumb::trial;

namespace {

TimedRun run_of(int status, uint64_t stdout_print, uint64_t file_print = 7) {
    TimedRun run;
    run.wall_s = run.cpu_s = 1;
    run.exit_status = status;
    run.fingerprints = {stdout_print, file_print};
    return run;
}

struct Series {
    Judge judge{{"stdout", "result.dat"}};
    Rounds base, cure;
    void add(const TimedRun& one, const TimedRun& other) {
        judge.add_base(one);
        base.emplace_back(one);
        cure.emplace_back(other);
    }
    Pairs pairs() const { return judge.pairs_of(base, cure); }
};

} // namespace

TEST_CASE("a cure that changes the output has failed, the second time") {
    Series series;
    series.add(run_of(0, 1), run_of(0, 1));
    series.add(run_of(0, 1), run_of(0, 2));
    CHECK(series.pairs().failure.empty());
    CHECK(series.pairs().base.size() == 1);
    series.add(run_of(0, 1), run_of(0, 2));
    CHECK(series.pairs().failure == "another stdout");
    CHECK(series.pairs().not_counted == 2);
}

TEST_CASE("a file is compared as the standard output is, and a missing one is named") {
    Series series;
    for (int i = 0; i < 2; ++i)
        series.add(run_of(0, 1, 5), run_of(0, 1, kMissing));
    CHECK(series.pairs().failure == "result.dat is missing");
}

TEST_CASE("an output that changes by itself is not compared, the others are") {
    Series series;
    for (uint64_t i = 0; i < 3; ++i)
        series.add(run_of(0, 10 + i), run_of(0, 20 + i));
    CHECK(series.judge.changing() == std::vector<std::string>{"stdout"});
    CHECK(series.pairs().failure.empty());
    CHECK(series.pairs().base.size() == 3);
    for (uint64_t i = 0; i < 2; ++i)
        series.add(run_of(0, 30 + i), run_of(0, 40 + i, 8));
    CHECK(series.pairs().failure == "another result.dat");
}

TEST_CASE("a failure that the base has later, too, is excused") {
    Series series;
    for (int i = 0; i < 2; ++i)
        series.add(run_of(0, 1), run_of(3, 1));
    CHECK(series.pairs().failure == "exit status 3 instead of 0");
    series.add(run_of(3, 1), run_of(0, 1));
    CHECK(series.pairs().failure.empty());
    CHECK(series.pairs().not_counted == 3);
    CHECK(series.judge.unusual_runs() == 1);
}

TEST_CASE("a command that always ends with a status other than 0 ends as usual") {
    Series series;
    series.add(run_of(1, 1), run_of(1, 1));
    CHECK(series.judge.usual_status() == 1);
    CHECK(series.pairs().base.size() == 1);
    CHECK(series.judge.unusual_runs() == 0);
    series.add(run_of(1, 1), run_of(139, 1));
    series.add(run_of(1, 1), run_of(139, 1));
    CHECK(series.pairs().failure == "exit status 139 (signal 11) instead of 1");
}

TEST_CASE("rounds in which one of the two was not run are no pairs") {
    Series series;
    series.add(run_of(0, 1), run_of(0, 1));
    series.base.emplace_back(run_of(0, 1));
    series.cure.emplace_back();
    series.base.emplace_back();
    CHECK(series.pairs().base.size() == 1);
    CHECK(series.pairs().not_counted == 0);
}

TEST_CASE("fingerprints differ by one byte, and an empty file is not a missing one") {
    const std::string name = "/tmp/plumb-fingerprint-" + std::to_string(getpid());
    const auto of = [&](const std::string& text) {
        std::ofstream(name, std::ios::binary) << text;
        return fingerprint_of(name);
    };
    const uint64_t empty = of(""), one = of("1.00\n"), other = of("1.01\n"), again = of("1.00\n");
    std::remove(name.c_str());
    CHECK(fingerprint_of(name) == kMissing);
    CHECK(empty != kMissing);
    CHECK(one != other);
    CHECK(one != empty);
    CHECK(one == again);
}
