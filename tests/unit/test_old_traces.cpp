// Runs recorded by earlier versions stay readable, and mean what they meant.
#include "trace/build_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

using namespace plumb;

namespace {

const model::Process& process_named(const model::Run& run, const std::string& name) {
    const auto found = std::ranges::find(run.processes, name, &model::Process::name);
    REQUIRE(found != run.processes.end());
    return *found;
}

uint64_t samples_of(const model::Process& process) {
    uint64_t samples = 0;
    for (const model::SampleSite& site : process.samples)
        samples += site.samples;
    return samples;
}

} // namespace

TEST_CASE("format 1.0: shell, heap-bound program, three threads") {
    const model::Run run = trace::build_run(PLUMB_OLD_TRACES "/format-1.0");
    CHECK(run.notes.empty());
    CHECK(run.complete);
    CHECK(run.exit_status == 128 + SIGKILL);
    CHECK(run.wall_ns() == 2'409'862'591);
    REQUIRE(run.command.size() == 3);
    CHECK(run.command[0] == "sh");
    REQUIRE(run.hosts.size() == 1);
    CHECK(run.hosts[0].allowed_cpus == model::CpuSet{0, 1});
    CHECK(run.hosts[0].cpu_intervals.size() == 46);
    CHECK(run.hosts[0].topology_xml.ends_with("</topology>\n"));
    REQUIRE(run.processes.size() == 3); // the shell's forks ended in an exec

    const model::Process& shell = process_named(run, "sh");
    CHECK_FALSE(shell.has_shim);
    CHECK(shell.wait_status == SIGKILL);
    CHECK(samples_of(shell) == 2);

    const model::Process& heap_mix = process_named(run, "heap_mix");
    CHECK(heap_mix.has_shim);
    CHECK(heap_mix.shim_closed);
    CHECK(heap_mix.parent_pid == shell.pid);
    CHECK(heap_mix.arguments == std::vector<std::string>{"/tmp/demo/heap_mix", "300", "200"});
    CHECK(samples_of(heap_mix) == 9);
    CHECK(heap_mix.heap.every_event);
    CHECK(heap_mix.heap.allocations == 300'000);
    CHECK(heap_mix.heap.allocated_bytes == 14'400'000);
    CHECK(heap_mix.heap.frees == 300'000);
    const auto largest = std::ranges::max_element(heap_mix.heap.sites, {}, &model::HeapSite::allocations);
    REQUIRE(largest != heap_mix.heap.sites.end());
    CHECK(largest->allocations == 300'000);
    CHECK(largest->peak_live_bytes == 47'472); // the list of one round is 48,000 bytes: within 1 % of the heap

    const model::Process& burn = process_named(run, "burn");
    CHECK(samples_of(burn) == 448);
    REQUIRE(burn.threads.size() == 3);
    for (const model::Thread& thread : burn.threads) {
        CHECK(thread.run_ns > 295'000'000);
        CHECK(thread.run_ns < 310'000'000);
        CHECK_FALSE(thread.intervals.empty());
    }
    CHECK(std::ranges::count(burn.modules, "/usr/lib/x86_64-linux-gnu/libc.so.6", &model::Module::path) >= 1);
}
