// Threads that a program drove to the CPU of another thread, and threads that take turns for other reasons.
#include "noise/displaced.h"

#include <catch2/catch.hpp>

using namespace plumb;
using noise::displaced_by;

namespace {

constexpr uint64_t kSlice_ns = 4'000'000;

// Threads 100, 101, .. of processes of one thread, on a host of `cpus` CPUs.
struct Job {
    model::Run run;
    std::vector<noise::WatchedThread> watched;

    Job(uint32_t threads, int cpus) {
        model::Host host;
        host.name = "node0";
        for (int cpu = 0; cpu < cpus; ++cpu)
            host.allowed_cpus.push_back(cpu);
        run.hosts.push_back(host);
        for (uint32_t i = 0; i < threads; ++i) {
            model::Process process;
            process.host = host.name;
            model::Thread thread;
            thread.tid = 100 + i;
            thread.run_ns = 1'000'000'000;
            process.threads.push_back(thread);
            run.processes.push_back(process);
            watched.push_back({.process = i, .thread = 0, .host = 0});
        }
    }

    void lose(uint32_t thread, int cpu, uint64_t begin_ns, uint64_t length_ns = kSlice_ns, uint32_t taker = 0) {
        run.processes[thread].threads[0].preemptions.push_back({begin_ns, begin_ns + length_ns, cpu, taker, false});
    }
    // Two slices of a program on CPU 1, from 0 to 12 ms, which thread 1 loses.
    void plant_program(uint64_t length_ns = kSlice_ns) {
        lose(1, 1, 0, length_ns);
        lose(1, 1, 2 * kSlice_ns, length_ns);
    }
    // From `begin_ns` on threads 0 and 1 take turns on this CPU.
    void plant_turns(uint64_t begin_ns, int cpu = 0) {
        lose(0, cpu, begin_ns, kSlice_ns, 101);
        lose(1, cpu, begin_ns + kSlice_ns, kSlice_ns, 100);
        lose(0, cpu, begin_ns + 2 * kSlice_ns, kSlice_ns, 101);
    }
    size_t count() const {
        size_t found = 0;
        for (const auto& of_thread : displaced_by(run, watched))
            for (const model::Preemption* origin : of_thread)
                found += origin != nullptr;
        return found;
    }
};

} // namespace

TEST_CASE("turns that follow on a program's slices on another CPU are its work") {
    Job job(2, 2);
    job.plant_program();
    job.plant_turns(3 * kSlice_ns - 10'000); // the slice ends where the thread has moved
    const auto found = displaced_by(job.run, job.watched);
    const model::Preemption* const last_slice = &job.run.processes[1].threads[0].preemptions[1];
    CHECK(found[0] == std::vector<const model::Preemption*>{last_slice, last_slice});
    CHECK(found[1] == std::vector<const model::Preemption*>{nullptr, nullptr, last_slice});
}

TEST_CASE("others that take the CPU for much shorter in between change nothing") {
    Job job(2, 2);
    job.plant_program();
    job.lose(0, 0, 2 * kSlice_ns, 20'000);
    job.lose(1, 1, 3 * kSlice_ns + 1'000'000, 20'000);
    job.plant_turns(3 * kSlice_ns + 1'100'000);
    job.lose(0, 0, 7 * kSlice_ns, 20'000);
    job.lose(1, 0, 8 * kSlice_ns, kSlice_ns, 100);
    CHECK(job.count() == 4);
}

TEST_CASE("turns for other reasons are nobody's work") {
    SECTION("long after the program") {
        Job job(2, 2);
        job.plant_program();
        job.plant_turns(3 * kSlice_ns + 20'000'000);
        CHECK(job.count() == 0);
    }
    SECTION("a program too short to make the system move a thread") {
        Job job(2, 2);
        job.plant_program(30'000);
        job.plant_turns(3 * kSlice_ns);
        CHECK(job.count() == 0);
    }
    SECTION("on the program's own CPU") {
        Job job(2, 2);
        job.plant_program();
        job.plant_turns(3 * kSlice_ns, 1);
        CHECK(job.count() == 0);
    }
    SECTION("more busy threads than CPUs") {
        Job job(3, 2);
        job.plant_program();
        job.plant_turns(3 * kSlice_ns);
        CHECK(job.count() == 0);
    }
    SECTION("the program took the CPU of a third thread") {
        Job job(4, 4);
        job.lose(2, 1, 0);
        job.plant_turns(kSlice_ns);
        CHECK(job.count() == 0);
    }
}

TEST_CASE("idle threads of a job need no CPU of their own") {
    Job job(2, 2);
    model::Thread helper;
    helper.tid = 200;
    helper.run_ns = 1'000'000;
    job.run.processes[0].threads.push_back(helper);
    job.plant_program();
    job.plant_turns(3 * kSlice_ns);
    CHECK(job.count() == 3);
}
