#include "record/process/settings.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

using namespace plumb::shim;

TEST_CASE("settings are copied from the environment") {
    char run[] = "PLUMB_RUN=/tmp/run";
    const char* environment[] = {"PATH=/bin", run, "PLUMB_FILE_LIMIT=1048576", "PLUMB_HEAP=", "PLUMB_RUNNER=x",
                                 "PLUMB_RUN=/second", nullptr};
    auto settings = std::make_unique<Settings>();
    settings->read(environment);
    run[10] = 'X'; // the program overwrites its environment
    CHECK(settings->text(Setting::kRunDirectory) == std::string("/tmp/run"));
    CHECK(settings->number(Setting::kFileLimit, 7) == 1048576);
    CHECK(settings->text(Setting::kHeapMode) == nullptr); // empty counts as unset
    CHECK(settings->number(Setting::kTimerRate, 7) == 7);
}

TEST_CASE("numbers that are none fall back") {
    for (const char* text : {"PLUMB_TIMER_HZ=fast", "PLUMB_TIMER_HZ=-3", "PLUMB_TIMER_HZ=99999999999999999999999"}) {
        const char* environment[] = {text, nullptr};
        auto settings = std::make_unique<Settings>();
        settings->read(environment);
        CHECK(settings->number(Setting::kTimerRate, 42) == 42);
    }
}

TEST_CASE("lists name whole words; an unset list names everything") {
    const char* environment[] = {"PLUMB_COLLECTORS=threads,heap", nullptr};
    auto settings = std::make_unique<Settings>();
    CHECK(settings->lists(Setting::kCollectors, "mpi"));
    settings->read(environment);
    CHECK(settings->lists(Setting::kCollectors, "threads"));
    CHECK(settings->lists(Setting::kCollectors, "heap"));
    CHECK_FALSE(settings->lists(Setting::kCollectors, "hea"));
    CHECK_FALSE(settings->lists(Setting::kCollectors, "mpi"));
}

TEST_CASE("a text too long for the copy counts as unset and costs the others nothing") {
    const std::string huge = "PLUMB_EXCLUDE=" + std::string(100'000, 'x');
    const char* environment[] = {huge.c_str(), "PLUMB_RUN=/tmp/run", nullptr};
    auto settings = std::make_unique<Settings>();
    settings->read(environment);
    CHECK(settings->text(Setting::kExclude) == nullptr);
    CHECK(settings->text(Setting::kRunDirectory) == std::string("/tmp/run"));
}
