// Records of the alignment trap and of address sampling as the model tells them.
#include "trace_test.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::trace;

namespace {

AlignSite site(uint32_t id, uint64_t address, uint32_t flags, uint16_t width) {
    AlignSite record{};
    record.id = id;
    record.address = address;
    record.flags = flags;
    record.width = width;
    record.time_ns = 2'000;
    record.instruction_bytes = 4;
    record.code[0] = 0xf2;
    return record;
}

AlignCount count(uint32_t site, uint64_t hits, uint32_t residue, bool exact = true) {
    AlignCount record{};
    record.site = site;
    record.exact = exact;
    record.hits = hits;
    record.residues[residue] = hits;
    record.lowest_address = 0x1000 + residue;
    record.highest_address = 0x9000 + residue;
    record.last_ns = 3'000;
    return record;
}

} // namespace

TEST_CASE("counts of an instruction add up over threads, whatever comes first") {
    SyntheticTrace trace = shim_trace();
    trace.begin_chunk();
    AlignCount other = count(1, 5, 60);
    other.page_crossings = 2;
    other.lowest_address = 0x800;
    trace.add(other, 50); // before the record of its site
    trace.add(count(1, 7, 4), kPid);
    trace.add(count(1, 1, 4), kPid); // the thread began a second record
    trace.add(site(1, 0x4010, kAlignLoad | kAlignStore | kAlignLocked, 8), 50);
    AlignTotals totals{};
    totals.mode = static_cast<uint32_t>(AlignMode::exact);
    totals.hits = 13;
    totals.trap_ns = 44'000;
    trace.add(totals, kPid);
    const model::Run run = run_of(trace);
    REQUIRE(run.processes.size() == 1);
    const model::Alignment& alignment = run.processes[0].alignment;
    CHECK(alignment.mode == model::Alignment::Mode::exact);
    CHECK(alignment.hits == 13);
    CHECK(alignment.trap_ns == 44'000);
    REQUIRE(alignment.sites.size() == 1);
    const model::UnalignedSite& known = alignment.sites[0];
    CHECK(known.address == 0x4010);
    CHECK(known.kind.width == 8);
    CHECK((known.kind.load && known.kind.store && known.kind.locked));
    CHECK(known.code == std::vector<uint8_t>{0xf2, 0, 0, 0});
    CHECK(known.exact);
    CHECK(known.hits == 13);
    CHECK(known.line_crossings() == 5);
    CHECK(known.page_crossings == 2);
    CHECK(known.lowest_address == 0x800);
    CHECK(known.highest_address == 0x903c);
    REQUIRE(known.threads.size() == 2);
    CHECK(known.threads[0].hits + known.threads[1].hits == 13);
    CHECK(run.processes[0].threads[known.threads[0].thread].tid == 50);
}

TEST_CASE("one lower bound makes the sum one; a site without a count is no exact zero") {
    SyntheticTrace trace = shim_trace();
    trace.add(site(1, 0x4010, kAlignLoad, 4));
    trace.add(count(1, 7, 1), 1);
    trace.add(count(1, 7, 1, false), 2);
    trace.add(site(2, 0x4020, kAlignLoad, 4));
    trace.add(count(3, 9, 1), 1); // its site was lost
    const model::Run run = run_of(trace);
    const model::Alignment& alignment = run.processes[0].alignment;
    REQUIRE(alignment.sites.size() == 2);
    CHECK_FALSE(alignment.sites[0].exact);
    CHECK_FALSE(alignment.sites[1].exact);
    CHECK(alignment.lost_hits == 9);
}

TEST_CASE("addresses keep the block they lie in") {
    SyntheticTrace trace = shim_trace();
    trace.add(site(1, 0x4010, kAlignStore, 8));
    const NodeId caller = trace.node(0, 0x4000);
    AlignAddress later{}, sooner{};
    later.site = sooner.site = 1;
    later.time_ns = 9'000;
    later.address = 0x7003;
    sooner.time_ns = 4'000;
    sooner.address = 0x6005;
    sooner.block_kind = static_cast<uint32_t>(BlockKind::heap);
    sooner.block_start = 0x6000;
    sooner.block_bytes = 100;
    sooner.block_path = caller;
    trace.add(later, 7);
    trace.add(sooner, 7);
    const model::Run run = run_of(trace);
    const model::UnalignedSite& known = run.processes[0].alignment.sites.at(0);
    REQUIRE(known.addresses.size() == 2);
    CHECK(known.addresses[0].address == 0x6005);
    CHECK(known.addresses[0].block == model::UnalignedAddress::Block::heap);
    CHECK(known.addresses[0].block_bytes == 100);
    CHECK(run.processes[0].paths.at(known.addresses[0].block_path).address == 0x4000);
    CHECK(known.addresses[1].block == model::UnalignedAddress::Block::unknown);
}

TEST_CASE("samples in the shim's stand-in code belong to the instruction") {
    SyntheticTrace shim = shim_trace();
    AlignCode code{};
    code.start = 0x70000;
    code.end = 0x70020;
    code.address = 0x4010;
    shim.add(code);
    SyntheticTrace node(Writer::recorder, 9);
    ProcessSeen seen{};
    seen.pid = kPid;
    seen.time_ns = 1'000;
    node.add(seen);
    const auto sample = [&](uint64_t address) {
        SampleSite record{};
        record.pid = kPid;
        record.path = node.node(0, address, kPathLeaf, kPid);
        record.samples = 1;
        record.time_ns = 100;
        record.first_ns = record.last_ns = 2'000;
        node.add(record, kPid);
    };
    sample(0x70000);
    sample(0x7001f);
    sample(0x70020);
    for (uint64_t address : {0x70008, 0x4010}) {
        AccessSite access{};
        access.pid = kPid;
        access.address = address;
        access.flags = kAlignLoad;
        access.width = 8;
        access.samples = 10;
        access.line_crossings = 4;
        access.first_ns = 2'000;
        node.add(access);
    }
    std::vector<TraceReader> files;
    files.push_back(shim.open());
    files.push_back(node.open());
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.processes.size() == 1);
    const model::Process& process = run.processes[0];
    REQUIRE(process.samples.size() == 3);
    CHECK(process.paths[process.samples[0].path].address == 0x4010);
    CHECK(process.paths[process.samples[1].path].address == 0x4010);
    CHECK(process.paths[process.samples[2].path].address == 0x70020);
    CHECK(process.alignment.stand_in_ns == 200);
    REQUIRE(process.sampled_accesses.size() == 1);
    CHECK(process.sampled_accesses[0].address == 0x4010);
    CHECK(process.sampled_accesses[0].samples == 20);
    CHECK(process.sampled_accesses[0].line_crossings == 8);
}

TEST_CASE("penalties of a node: the smallest figure of its recorders; event counts and slices of counters") {
    SyntheticTrace node(Writer::recorder, 9);
    AccessPenalty first{}, second{};
    first.aligned_load_ps = 300;
    first.split_lock_ps = 350'000'000;
    first.split_lock_setting = node.text("warn");
    second.aligned_load_ps = 250;
    second.page_store_ps = 17'000;
    node.add(first);
    node.add(second);
    EventCount faults{};
    faults.name = node.text("alignment-faults");
    faults.pid = 12;
    faults.count = 99;
    node.add(faults);
    CounterSlice slice{};
    slice.event = node.text("cycles");
    slice.pid = 12;
    slice.begin_ns = 5'000;
    slice.end_ns = 9'000;
    slice.count = 1234;
    slice.group = 2;
    slice.flags = kCountedByPapi;
    node.add(slice);
    slice.event = node.text("instructions");
    slice.begin_ns = 2'000;
    slice.flags = 0;
    node.add(slice);
    slice.end_ns = slice.begin_ns; // no time: nothing was counted
    node.add(slice);
    const model::Run run = run_of(node);
    REQUIRE(run.hosts.size() == 1);
    REQUIRE(run.hosts[0].counters.size() == 2);
    CHECK(run.hosts[0].counters[0].event == "instructions"); // by beginning
    CHECK_FALSE(run.hosts[0].counters[0].by_papi);
    CHECK(run.hosts[0].counters[1].event == "cycles");
    CHECK(run.hosts[0].counters[1].count == 1234);
    CHECK(run.hosts[0].counters[1].end_ns - run.hosts[0].counters[1].begin_ns == 4'000);
    CHECK((run.hosts[0].counters[1].group == 2 && run.hosts[0].counters[1].by_papi));
    REQUIRE(run.hosts[0].access_penalties);
    const model::AccessPenalties& penalties = *run.hosts[0].access_penalties;
    CHECK(penalties.load.aligned_ns == Approx(0.25));
    CHECK(penalties.load.page_ns == 0); // not measured
    CHECK(penalties.store.page_ns == Approx(17));
    CHECK(penalties.split_lock_ns == Approx(350'000));
    CHECK(penalties.split_lock_setting == "warn");
    REQUIRE(run.hosts[0].event_counts.size() == 1);
    CHECK(run.hosts[0].event_counts[0].name == "alignment-faults");
    CHECK(run.hosts[0].event_counts[0].count == 99);
}
