// Runs recorded by earlier versions stay readable, and mean what they meant.
#include "old_traces.h"
#include "trace_test.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>

using namespace plumb;
using trace::samples_of;

namespace {

const model::Process& process_named(const model::Run& run, const std::string& name) {
    const auto found = std::ranges::find(run.processes, name, &model::Process::name);
    REQUIRE(found != run.processes.end());
    return *found;
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
    CHECK(run.hosts[0].topology.xml.ends_with("</topology>\n"));
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

TEST_CASE("format 1.1: unaligned accesses, every hit counted") {
    const model::Run run = trace::build_run(PLUMB_OLD_TRACES "/format-1.1");
    CHECK(run.notes.empty());
    CHECK(run.complete);
    REQUIRE(run.processes.size() == 1);
    const model::Process& process = process_named(run, "align_records");
    const model::Alignment& alignment = process.alignment;
    CHECK(alignment.mode == model::Alignment::Mode::exact);
    CHECK(alignment.hits == 17'502'646);
    CHECK(alignment.rewritten == 17'501'601);
    CHECK(alignment.excluded_hits == 44);
    CHECK(alignment.lost_hits == 0);
    CHECK_FALSE(alignment.stand_ins.empty());
    REQUIRE(alignment.sites.size() == 6);

    // 875 of 1,000 records of 13 bytes hold their weight off its boundary, in 20,000 rounds.
    const auto sum = std::ranges::max_element(alignment.sites, {}, &model::UnalignedSite::hits);
    CHECK(sum->hits == 17'500'000);
    CHECK(sum->exact);
    CHECK(sum->kind.width == 8);
    CHECK(sum->kind.load);
    CHECK_FALSE(sum->kind.store);
    CHECK(sum->page_crossings == 2 * 20'000);
    uint64_t crossings = 0;
    for (uint64_t place = 1; place < 13'000; place += 13)
        crossings += place % 64 > 56;
    CHECK(sum->line_crossings() == crossings * 20'000);
    REQUIRE_FALSE(sum->addresses.empty());
    CHECK(sum->addresses[0].block == model::UnalignedAddress::Block::heap);
    CHECK(sum->addresses[0].address == sum->addresses[0].block_start + 1);

    const auto locked = std::ranges::find_if(alignment.sites, [](const auto& site) { return site.kind.locked; });
    REQUIRE(locked != alignment.sites.end());
    CHECK(locked->hits == 20);
    CHECK(locked->line_crossings() == 20);

    REQUIRE(run.hosts.size() == 1);
    REQUIRE(run.hosts[0].access_penalties);
    CHECK(run.hosts[0].access_penalties->store.page_ns == Approx(7.524));
    CHECK(run.hosts[0].access_penalties->split_lock_ns == Approx(44'882.75));
    CHECK(run.hosts[0].access_penalties->load.sweep_line_ns == 0); // since 1.2
    CHECK(process.sampled_accesses.size() == 2); // those that were unaligned
}
