// What runs met on the machine, from made-up models.
#include "compare/run_conditions.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

model::Thread thread_on(std::vector<std::pair<int, uint64_t>> cpus) {
    model::Thread thread;
    uint64_t at_ns = 0;
    for (const auto& [cpu, run_ns] : cpus) {
        model::ThreadInterval interval;
        interval.begin_ns = at_ns;
        interval.end_ns = at_ns += run_ns;
        interval.cpu = cpu;
        interval.run_ns = run_ns;
        thread.run_ns += run_ns;
        thread.intervals.push_back(interval);
    }
    return thread;
}

model::Run run_of(model::Thread thread) {
    model::Run run;
    model::Process brief, longest;
    brief.host = longest.host = "here";
    brief.threads = {thread_on({{5, 1000}})};
    longest.threads = {std::move(thread), thread_on({{0, 500}})};
    longest.memory.layout = {0x7ffc00001e30, 1800, 64u << 20, 16u << 20};
    run.processes = {brief, longest};
    model::Host host;
    host.name = "here";
    host.cpu_intervals = {
        {.cpu = 0, .allowed = true, .begin_ns = 0, .end_ns = kSecond, .user_ns = kSecond / 2, .idle_ns = kSecond / 4, .steal_ns = kSecond / 4,
         .run_own_ns = kSecond / 4},
        {.cpu = 1, .allowed = false, .begin_ns = 0, .end_ns = kSecond, .user_ns = kSecond},
    };
    run.hosts = {host};
    return run;
}

} // namespace

TEST_CASE("where the busiest thread of the longest process ran") {
    CHECK(conditions_of(run_of(thread_on({{3, 9 * kSecond}, {2, kSecond}}))).kinds.at("the CPU of its busiest thread") == "CPU 3");
    CHECK(conditions_of(run_of(thread_on({{3, kSecond}, {2, kSecond}}))).kinds.at("the CPU of its busiest thread") == "several");
    model::Run run = run_of(thread_on({{3, kSecond}, {2, kSecond}}));
    CHECK_FALSE(conditions_of(run).kinds.contains("the memory node of that CPU"));
    run.hosts[0].nodes = {{.node = 0, .total_bytes = 1, .cpus = {0, 1}}, {.node = 1, .total_bytes = 1, .cpus = {2, 3}}};
    CHECK(conditions_of(run).kinds.at("the memory node of that CPU") == "node 1");
}

TEST_CASE("how its memory was laid out") {
    const RunConditions conditions = conditions_of(run_of(thread_on({{3, kSecond}})));
    CHECK(conditions.kinds.at("where its stack begins within a cache line") == "byte 48");
    CHECK(conditions.kinds.at("where its stack begins within a page") == "bytes 3584 to 4095");
    CHECK(conditions.amounts.at("the size of its environment") == 1800);
    CHECK(conditions.amounts.at("its memory on huge pages") == 0.25);
    CHECK(amount_unit("its memory on huge pages") == "fraction");
    CHECK(condition_advice("its memory on huge pages") != "");
}

TEST_CASE("who else used the CPUs that the run may use") {
    const RunConditions conditions = conditions_of(run_of(thread_on({{3, kSecond}})));
    CHECK(conditions.amounts.at("CPU time of other programs") == 0.25);
    CHECK(conditions.amounts.at("CPU time taken by the hypervisor") == 0.25);
}

TEST_CASE("of what was not recorded nothing is said") {
    const RunConditions conditions = conditions_of({});
    CHECK(conditions.kinds.empty());
    CHECK(conditions.amounts.empty());
}
