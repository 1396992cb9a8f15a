// Sampled events by line and thread, from the records of a recorder and from the model.
#include "analyses/time/event_places.h"

#include "synthetic_run.h"
#include "synthetic_trace.h"
#include "trace/build_run.h"

#include <catch2/catch.hpp>

using namespace plumb;

TEST_CASE("events add up by line and by thread, the most first") {
    testing::SyntheticRun made(10, 2);
    made.add_thread(0, 1, 0);
    made.add_thread(1, 1, 0);
    made.name(0x400100, "fill", "/home/user/app", "app.c", 10);
    made.name(0x400200, "sum", "/home/user/app", "app.c", 20);
    const uint32_t fill = made.add_path({0x400100}), sum = made.add_path({0x400200});
    auto& sites = made.run.processes[0].counter_sites;
    sites.push_back({"page faults", 0, fill, 3, 300});
    sites.push_back({"page faults", 1, fill, 5, 500});
    sites.push_back({"page faults", 1, sum, 2, 200});
    sites.push_back({"cycles", 0, sum, 1, 1000});
    sites.push_back({"cycles", 0, 99, 1, 1000}); // of a damaged file: no such path
    model::CallPaths paths(made.run, made.resolver);
    const std::vector<EventPlaces> all = event_places_of(paths);
    REQUIRE(all.size() == 2);
    CHECK(find_event_places(all, "cycles")->events == 1000);
    CHECK_FALSE(find_event_places(all, "branches"));
    const EventPlaces& faults = *find_event_places(all, "page faults");
    CHECK(faults.samples == 10);
    CHECK(faults.events == 1000);
    const std::vector<Location> lines = faults.lines.heaviest(5);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].line == 10);
    CHECK(lines[0].share == Approx(0.8));
    CHECK(faults.events_at(lines[1]) == Approx(200));
    REQUIRE(faults.threads.size() == 2);
    CHECK(faults.threads[0].thread == 1);
    CHECK(faults.threads[0].events == 700);
    CHECK(faults.regions.empty());
}

TEST_CASE("of each process's events as large a part is in a region as of its samples of known time") {
    testing::SyntheticRun made(10, 2);
    made.add_thread(0, 1, 0);
    made.name(0x400100, "fill", "/home/user/app", "app.c", 10);
    const uint32_t fill = made.add_path({0x400100});
    model::Process& one = made.run.processes[0];
    one.counter_sites.push_back({"cycles", 0, fill, 8, 8'000});
    one.counter_samples = {{"cycles", 4}};
    one.regions = {{.name = "solve", .counter_samples = {{"cycles", 3}}}, {.name = "write"}};
    model::Process other = one;
    other.counter_sites[0].events = 2'000;
    other.counter_samples = {{"cycles", 10}, {"page faults", 7}};
    other.regions = {{.name = "write", .counter_samples = {{"cycles", 5}}}, {.name = "solve", .counter_samples = {{"cycles", 1}}}};
    made.run.processes.push_back(other);
    model::CallPaths paths(made.run, made.resolver);
    const std::vector<EventPlaces> all = event_places_of(paths);
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].regions.size() == 2);
    CHECK(all[0].regions[0].name == "solve");
    CHECK(all[0].regions[0].events == Approx(6'000 + 200));
    CHECK(all[0].regions[1].events == Approx(1'000));
}

TEST_CASE("a recorder's records become sites of the process that ran then") {
    using namespace plumb::trace;
    constexpr uint32_t kPid = 42;
    SyntheticTrace trace(Writer::recorder, 7);
    ProcessSeen seen{};
    seen.pid = kPid;
    seen.time_ns = 1'000;
    seen.executable = trace.text("/bin/app");
    trace.add(seen);
    PathNode node{};
    node.id = 1;
    node.address = 0x1234;
    node.pid = kPid;
    node.flags = kPathLeaf;
    trace.add(node);
    CounterSite site{};
    site.event = trace.text("cycles");
    site.pid = kPid;
    site.path = 1;
    site.samples = 4;
    site.events = 4'000;
    site.first_ns = 2'000;
    site.last_ns = 3'000;
    trace.add(site, kPid);
    site.event = 0; // nameless
    trace.add(site, kPid);
    std::vector<TraceReader> files;
    files.push_back(trace.open());
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.processes.size() == 1);
    REQUIRE(run.processes[0].counter_sites.size() == 1);
    const model::CounterSite& built = run.processes[0].counter_sites[0];
    CHECK(built.event == "cycles");
    CHECK(built.samples == 4);
    CHECK(built.events == 4'000);
    CHECK(run.processes[0].threads.at(built.thread).tid == kPid);
    CHECK(run.processes[0].paths.at(built.path).address == 0x1234);
}
