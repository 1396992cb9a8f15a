// A ring for each thread instead of each CPU: threads and processes are followed as soon as they are known.
#include "record/perf/sampler.h"

#include <catch2/catch.hpp>
#include <atomic>
#include <chrono>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace plumb::record;
using namespace std::chrono_literals;

namespace {

void spin(std::chrono::milliseconds time) {
    static std::atomic<uint64_t> sink;
    for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;)
        sink.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

// Not a test: what the next one runs, since sampling begins with an exec. Three threads and a child process.
TEST_CASE("threads that spin", "[.][spin-threads]") {
    std::this_thread::sleep_for(20ms);
    const pid_t child = fork();
    if (child == 0) {
        spin(300ms);
        _exit(0);
    }
    std::thread one([] { spin(300ms); }), two([] { spin(300ms); });
    spin(300ms);
    one.join();
    two.join();
    waitpid(child, nullptr, 0);
}

TEST_CASE("every thread and process is sampled by a ring of its own", "[rings]") {
    int gate[2];
    REQUIRE(pipe(gate) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        char go = 0;
        [[maybe_unused]] const ssize_t got = read(gate[0], &go, 1);
        execl("/proc/self/exe", "unit-tests", "[spin-threads]", nullptr);
        _exit(127);
    }
    RingPlan plan;
    plan.per_thread = true;
    plan.pages = 4;
    Sampler sampler(pid, Options{}, plan);
    const bool works = sampler.works();
    [[maybe_unused]] const ssize_t sent = write(gate[1], "x", 1);
    std::map<uint32_t, int> samples; // by tid
    std::map<uint32_t, uint32_t> process;
    int status = 0;
    size_t most_rings = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        sampler.drain([&](const PerfRecord& record) {
            if (record.kind == PerfKind::sample) {
                ++samples[record.tid];
                process[record.tid] = record.pid;
            }
        }, false);
        most_rings = std::max(most_rings, sampler.rings().size());
        std::this_thread::sleep_for(1ms);
    }
    close(gate[0]);
    close(gate[1]);
    CHECK(status == 0);
    if (!works) {
        WARN("not tested: perf events are refused here: " << sampler.why());
        return;
    }
    CHECK(sampler.is_per_thread());
    CHECK(most_rings == 4);
    sampler.drain([](const PerfRecord&) {}, true);
    sampler.look({});
    CHECK(sampler.rings().empty()); // all have ended
    CHECK(sampler.works());
    int well_sampled = 0, forked = 0;
    for (const auto& [tid, count] : samples) {
        well_sampled += count >= 5; // of 300 ms, beside other programs
        forked += process[tid] != static_cast<uint32_t>(pid);
    }
    // A leak sanitizer clones a process of its own at the end.
    CHECK(well_sampled >= 4);
    CHECK(forked >= 1);
}
