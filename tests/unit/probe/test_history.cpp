// Probes come back from the file as they were kept, and files that are no history get a sentence.
#include "probe/history/history.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace plumb::probe;

namespace {

struct Folder {
    Folder() {
        char name[] = "/tmp/plumb-history-XXXXXX";
        path = mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
};

EarlierProbe probe_at(double begin_s, const char* host = "node7") {
    EarlierProbe probe{.begin_s = begin_s,
                       .took_s = 60,
                       .rounds = 40,
                       .host = host,
                       .kernel = "Linux 6.1",
                       .cpu_model = "X \"1\"",
                       .cpus = "0-3",
                       .cpu_count = 4,
                       .memory_bytes = 1ull << 40,
                       .figures = {}};
    plumb::statistics::Spread spread;
    spread.count = 40;
    spread.median = 1.25e-7;
    spread.low = 1.2e-7, spread.high = 1.3e-7, spread.least = 1e-7, spread.most = 2e-7;
    spread.is_known = true;
    probe.figures.push_back({"memory latency", "CPU 0", Unit::seconds, spread});
    spread.is_known = false;
    probe.figures.push_back({"memory read", "CPU 0", Unit::bytes_per_s, spread});
    return probe;
}

} // namespace

TEST_CASE("a history returns what it was given") {
    const Folder folder;
    const std::string file = folder.path + "/deep/er/probe.sqlite";
    int64_t first = 0, second = 0;
    {
        History history(file, History::Access::write);
        first = history.keep(probe_at(1000));
        second = history.keep(probe_at(2000));
        history.keep(probe_at(3000, "node8"));
    }
    History history(file, History::Access::read);
    REQUIRE(history.list().size() == 3);
    const EarlierProbe last = history.find("last", probe_at(0));
    CHECK((last.id == second && last.begin_s == 2000 && last.host == "node7" && last.cpus == "0-3" &&
           last.memory_bytes == 1ull << 40));
    REQUIRE(last.figures.size() == 2);
    const Figure* const latency = find(last.figures, "memory latency", "CPU 0");
    REQUIRE(latency);
    CHECK((latency->spread.median == 1.25e-7 && latency->spread.low == 1.2e-7 && latency->spread.is_known &&
           latency->unit == Unit::seconds));
    CHECK_FALSE(find(last.figures, "memory read", "CPU 0")->spread.is_known);
    CHECK(find(last.figures, "memory read", "CPU 0")->unit == Unit::bytes_per_s);
    CHECK(history.find(std::to_string(first), probe_at(0)).begin_s == 1000);
    CHECK(history.find("1971-01-01", probe_at(0)).id == second);
    CHECK_THROWS_WITH(history.find("1965-01-01", probe_at(0)), Catch::Contains("no date") || Catch::Contains("date as"));
    CHECK_THROWS_WITH(history.find("99", probe_at(0)), Catch::Contains("no probe 99"));
    CHECK_THROWS_WITH(history.find("last", probe_at(0, "node9")), Catch::Contains("no probe of this machine"));
    CHECK_THROWS_AS(history.find("yesterday", probe_at(0)), plumb::UsageError);
}

TEST_CASE("dates mean their end") {
    CHECK(end_of_date_s("2026-11-28 14:30") - end_of_date_s("2026-11-28 14:29") == 60);
    CHECK(end_of_date_s("2026-11-28 14:30:05") - end_of_date_s("2026-11-28 14:29") == 6);
    CHECK(end_of_date_s("2026-11-28") > end_of_date_s("2026-11-28 23:58"));
    CHECK(end_of_date_s("28.11.2026") < 0);
    CHECK(end_of_date_s("2026-11-28x") < 0);
}

TEST_CASE("what is no history gets a sentence") {
    const Folder folder;
    const std::string file = folder.path + "/odd";
    CHECK_THROWS_WITH(History(file, History::Access::read), Catch::Contains("unable to open"));
    std::ofstream(file) << std::string(5000, 'x');
    for (const auto access : {History::Access::read, History::Access::write})
        CHECK_THROWS_WITH(History(file, access), Catch::Contains("not a database") && Catch::Contains("--history"));
    { History newer(folder.path + "/newer", History::Access::write); }
    Database(folder.path + "/newer", true).execute("PRAGMA user_version = 99");
    CHECK_THROWS_WITH(History(folder.path + "/newer", History::Access::write), Catch::Contains("later version"));
}
