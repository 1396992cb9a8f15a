// From trace files to the model: what both sides tell of a process becomes one, image by image.
#include "synthetic_trace.h"
#include "trace/build_run.h"
#include "trace/context/path_merger.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace plumb;
using namespace plumb::trace;
using Catch::Contains;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

RunFacts finished_run() {
    RunFacts facts;
    facts.finished = true;
    facts.command = {"./app", "x"};
    facts.host = "host";
    facts.begin_ns = kSecond;
    facts.end_ns = 11 * kSecond;
    facts.exit_status = 3;
    return facts;
}

void start(SyntheticTrace& trace, uint32_t pid, uint64_t time_ns, const char* executable, uint32_t flags = 0) {
    ProcessStart record{};
    record.pid = pid;
    record.parent_pid = 1;
    record.time_ns = time_ns;
    record.executable = trace.text(executable);
    record.command_line = trace.text(std::string_view("app\0-v\0", 7));
    record.rank = record.rank_count = record.local_rank = -1;
    record.flags = flags;
    trace.add(record);
}

void see(SyntheticTrace& trace, uint32_t pid, uint64_t time_ns, const char* executable, uint32_t flags,
         uint32_t parent = 1) {
    ProcessSeen record{};
    record.pid = pid;
    record.parent_pid = parent;
    record.time_ns = time_ns;
    record.executable = trace.text(executable);
    record.name = trace.text("app");
    record.flags = flags;
    trace.add(record);
}

void gone(SyntheticTrace& trace, uint32_t pid, uint64_t time_ns, int32_t status) {
    ProcessGone record{};
    record.pid = pid;
    record.status = status;
    record.time_ns = time_ns;
    trace.add(record);
}

void sample(SyntheticTrace& trace, uint32_t pid, uint32_t tid, NodeId path, uint64_t time_ns, uint64_t samples = 1) {
    SampleSite record{};
    record.pid = pid;
    record.path = path;
    record.samples = samples;
    record.time_ns = 1000 * samples;
    record.first_ns = record.last_ns = time_ns;
    trace.add(record, tid);
}

void start_thread(SyntheticTrace& trace, uint32_t tid, uint64_t time_ns, uint64_t routine, NodeId path) {
    ThreadStart record{};
    record.time_ns = time_ns;
    record.start_routine = routine;
    record.creation_path = path;
    trace.add(record, tid);
}

void end_thread(SyntheticTrace& trace, uint32_t tid, uint64_t time_ns, uint64_t cpu_time_ns) {
    ThreadEnd record{};
    record.time_ns = time_ns;
    record.cpu_time_ns = cpu_time_ns;
    trace.add(record, tid);
}

void load(SyntheticTrace& trace, uint32_t id, uint32_t pid, uint64_t time_ns, const char* path) {
    ModuleLoad record{};
    record.id = id;
    record.pid = pid;
    record.time_ns = time_ns;
    record.start = 0x1000;
    record.end = 0x2000;
    record.build_id[0] = 0xab;
    record.build_id[1] = 0x01;
    record.build_id_size = 2;
    record.path = trace.text(path);
    record.flags = kModuleMain;
    trace.add(record);
}

std::vector<TraceReader> open_all(std::initializer_list<SyntheticTrace*> traces) {
    std::vector<TraceReader> files;
    for (SyntheticTrace* trace : traces)
        files.push_back(trace->open());
    return files;
}

bool has_note(const model::Run& run, const std::string& text) {
    for (const std::string& note : run.notes)
        if (note.find(text) != std::string::npos)
            return true;
    return false;
}

} // namespace

TEST_CASE("the shim's and the recorder's accounts of one process become one") {
    SyntheticTrace shim(Writer::process, 42), node(Writer::recorder, 7);
    start(shim, 42, 2 * kSecond + 500, "/bin/app");
    const NodeId main_node = shim.node(0, 0x1000), alloc = shim.node(main_node, 0x1100);
    start_thread(shim, 43, 3 * kSecond, 0x1000, main_node);
    end_thread(shim, 43, 5 * kSecond, 9);
    HeapTotals totals{};
    totals.allocations = 10;
    totals.size_histogram[1] = 2;
    shim.add(totals, 42);
    for (const uint32_t tid : {42u, 43u}) {
        HeapSite site{};
        // 43 frees what 42 allocated, and nothing changed for 43 since the heap was largest.
        site.peak_epoch = tid == 42 ? 6 : 5;
        site.peak_live_bytes = tid == 42 ? 900 : 12345;
        site.freed_bytes = tid == 42 ? 0 : 300;
        site.path = alloc;
        site.mode = static_cast<uint32_t>(HeapSiteMode::every_event);
        site.allocations = 5;
        shim.add(site, tid);
    }

    see(node, 42, 2 * kSecond, "/bin/app", kSeenExec);
    node.node(0, 0xdead, 0, 99); // the same call paths have other ids in another file
    const NodeId outer = node.node(0, 0x1000, 0, 42), inner = node.node(outer, 0x1100, 0, 42);
    const NodeId leaf = node.node(inner, 0x1180, kPathLeaf, 42);
    sample(node, 42, 43, leaf, 4 * kSecond, 7);
    sample(node, 42, 43, leaf, 4 * kSecond, 5);
    ThreadSchedule schedule{};
    schedule.pid = 42;
    schedule.name = node.text("worker");
    schedule.first_ns = 3 * kSecond;
    schedule.last_ns = 5 * kSecond;
    schedule.run_ns = 77;
    schedule.allowed_cpus = node.text("0-1,4");
    node.add(schedule, 43);
    gone(node, 42, 10 * kSecond, 0);

    auto files = open_all({&shim, &node});
    const RunFacts facts = finished_run();
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.processes.size() == 1);
    const model::Process& process = run.processes[0];
    CHECK(process.has_shim);
    CHECK(process.shim_closed);
    CHECK(process.start_ns == 2 * kSecond);
    CHECK(process.end_ns == 10 * kSecond);
    CHECK(process.end_seen);
    CHECK(process.wait_status == 0);
    CHECK(process.executable == "/bin/app");
    CHECK(process.arguments == std::vector<std::string>{"app", "-v"});
    REQUIRE(process.paths.size() == 4); // root, main, inner, leaf: none twice
    REQUIRE(process.samples.size() == 1);
    CHECK(process.samples[0].samples == 12);
    CHECK(process.paths[process.samples[0].path].leaf);
    CHECK(process.paths[process.samples[0].path].address == 0x1180);
    REQUIRE(process.heap.sites.size() == 1);
    CHECK(process.heap.sites[0].allocations == 10);
    CHECK(process.heap.sites[0].path == process.paths[process.samples[0].path].parent);
    CHECK(process.heap.sites[0].peak_live_bytes == 600);
    CHECK(process.heap.every_event);
    CHECK(process.heap.allocations == 10);
    CHECK(process.heap.size_histogram[1] == 2);
    REQUIRE(process.threads.size() == 1);
    const model::Thread& thread = process.threads[process.samples[0].thread];
    CHECK(thread.tid == 43);
    CHECK(thread.name == "worker");
    CHECK(thread.start_ns == 3 * kSecond);
    CHECK(thread.end_ns == 5 * kSecond);
    CHECK(thread.run_ns == 77);
    CHECK(thread.allowed_cpus == model::CpuSet{0, 1, 4});
    CHECK(process.paths[thread.creation_path].address == 0x1000);
    CHECK(run.exit_status == 3);
    CHECK(run.wall_ns() == 10 * kSecond);
    CHECK(run.complete);
    CHECK(run.notes.empty());
}

TEST_CASE("each image of a pid has what happened while it ran") {
    SyntheticTrace first(Writer::process, 42), second(Writer::process, 42), node(Writer::recorder, 7);
    start(first, 42, 2 * kSecond + 1, "/bin/sh");
    start(second, 42, 5 * kSecond + 1, "/bin/app");
    see(node, 42, 2 * kSecond, "/bin/sh", kSeenExec);
    sample(node, 42, 42, node.node(0, 0x10, kPathLeaf, 42), 3 * kSecond, 1);
    load(node, 1, 42, 2 * kSecond, "/bin/sh");
    ModuleUnload unload{};
    unload.id = 1;
    unload.pid = 42;
    unload.time_ns = 5 * kSecond;
    node.add(unload);
    see(node, 42, 5 * kSecond, "/bin/app", kSeenExec);
    load(node, 2, 42, 5 * kSecond, "/bin/app");
    sample(node, 42, 42, node.node(0, 0x10, kPathLeaf, 42), 6 * kSecond, 2);
    gone(node, 42, 7 * kSecond, -1);
    see(node, 42, 8 * kSecond, "/bin/other", kSeenExec); // the system gave the number out again
    sample(node, 42, 42, node.node(0, 0x10, kPathLeaf, 42), 9 * kSecond, 4);

    auto files = open_all({&first, &second, &node});
    const RunFacts facts = finished_run();
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.processes.size() == 3);
    const char* executables[] = {"/bin/sh", "/bin/app", "/bin/other"};
    const uint64_t samples[] = {1, 2, 4}, ends[] = {5, 7, 9};
    for (size_t i = 0; i < 3; ++i) {
        CHECK(run.processes[i].executable == executables[i]);
        REQUIRE(run.processes[i].samples.size() == 1);
        CHECK(run.processes[i].samples[0].samples == samples[i]);
        CHECK(run.processes[i].end_ns == ends[i] * kSecond);
        CHECK(run.processes[i].has_shim == (i < 2));
    }
    REQUIRE(run.processes[0].modules.size() == 1);
    CHECK(run.processes[0].modules[0].unloaded_ns == 5 * kSecond);
    REQUIRE(run.processes[1].modules.size() == 1);
    CHECK(run.processes[1].modules[0].path == "/bin/app");
    CHECK(run.processes[1].modules[0].unloaded_ns == UINT64_MAX);
}

TEST_CASE("what a thread did before an exec stays with the program before, though it lasted until the exec") {
    SyntheticTrace shim(Writer::process, 42), node(Writer::recorder, 7);
    start(shim, 42, 5 * kSecond + 1, "/bin/app");
    start_thread(shim, 42, 5 * kSecond + 2, 0, 0);
    Placement placement{};
    placement.time_ns = 5 * kSecond + 3;
    placement.cpu = 1;
    shim.add(placement, 42);
    const uint64_t begins[] = {2, 5, 7};
    const char* names[] = {"/bin/sh", "/bin/app"};
    for (size_t i = 0; i < 2; ++i) {
        see(node, 42, begins[i] * kSecond, names[i], kSeenExec);
        ThreadSchedule schedule{};
        schedule.pid = 42;
        schedule.first_ns = begins[i] * kSecond;
        schedule.last_ns = begins[i + 1] * kSecond;
        schedule.run_ns = begins[i];
        node.add(schedule, 42);
        ThreadInterval interval{};
        interval.pid = 42;
        interval.begin_ns = schedule.first_ns;
        interval.end_ns = schedule.last_ns;
        node.add(interval, 42);
    }
    auto files = open_all({&shim, &node});
    const RunFacts facts = finished_run();
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.processes.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
        REQUIRE(run.processes[i].threads.size() == 1);
        CHECK(run.processes[i].threads[0].run_ns == begins[i]);
        CHECK(run.processes[i].threads[0].intervals.size() == 1);
        CHECK(run.processes[i].threads[0].placement.has_value() == (i == 1));
    }
}

TEST_CASE("a fork without exec is a process of its own, a fork before an exec is not") {
    SyntheticTrace node(Writer::recorder, 7);
    see(node, 10, 2 * kSecond, "/bin/app", kSeenExec);
    load(node, 1, 10, 2 * kSecond, "/bin/app");
    see(node, 11, 3 * kSecond, "/bin/app", 0, 10); // works on as a copy
    sample(node, 11, 11, node.node(0, 0x1010, kPathLeaf, 11), 4 * kSecond);
    see(node, 12, 3 * kSecond, "/bin/app", 0, 10); // executes another program
    see(node, 12, 3 * kSecond + 10, "/bin/ls", kSeenExec, 10);
    auto files = open_all({&node});
    const RunFacts facts = finished_run();
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.processes.size() == 3);
    CHECK(run.processes[0].pid == 10);
    CHECK(run.processes[1].pid == 11);
    REQUIRE(run.processes[1].modules.size() == 1);
    CHECK(run.processes[1].modules[0].kind == model::Module::Kind::program);
    CHECK(run.processes[1].modules[0].build_id == "ab01");
    CHECK(run.processes[2].executable == "/bin/ls");
}

TEST_CASE("the shim of a forked child meets the fork, that of an executed program the exec") {
    SyntheticTrace child(Writer::process, 11), program(Writer::process, 12), node(Writer::recorder, 7);
    start(child, 11, 3 * kSecond + 5, "/bin/app", 1);
    start(program, 12, 3 * kSecond + 5, "/bin/ls");
    see(node, 11, 3 * kSecond, "/bin/app", 0);
    see(node, 12, 3 * kSecond, "/bin/app", 0);
    see(node, 12, 3 * kSecond + 9, "/bin/ls", kSeenExec); // learned late, from /proc
    auto files = open_all({&child, &program, &node});
    const RunFacts facts = finished_run();
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.processes.size() == 2);
    for (const model::Process& process : run.processes)
        CHECK(process.has_shim);
    CHECK(run.processes[0].executable == "/bin/app");
    CHECK(run.processes[1].executable == "/bin/ls");
}

TEST_CASE("a thread id given out twice is two threads") {
    SyntheticTrace shim(Writer::process, 42);
    start(shim, 42, 2 * kSecond, "/bin/app");
    for (const uint64_t begin : {3, 5}) {
        start_thread(shim, 43, begin * kSecond, begin, 0);
        ThreadName name{};
        name.name = shim.text(begin == 3 ? "one" : "two");
        shim.add(name, 43);
        end_thread(shim, 43, (begin + 1) * kSecond, begin);
    }
    auto files = open_all({&shim});
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.processes.size() == 1);
    const auto& threads = run.processes[0].threads;
    REQUIRE(threads.size() == 2);
    CHECK(threads[0].name == "one");
    CHECK(threads[0].end_ns == 4 * kSecond);
    CHECK(threads[0].run_ns == 3);
    CHECK(threads[1].name == "two");
    CHECK(threads[1].start_ns == 5 * kSecond);
    CHECK(threads[1].run_ns == 5);
}

TEST_CASE("damaged call paths: rings, missing parents, foreign and repeated nodes, great depth") {
    SyntheticTrace node(Writer::recorder, 7);
    see(node, 42, kSecond, "/bin/app", kSeenExec);
    const auto add = [&](NodeId id, NodeId parent, uint32_t pid = 42) {
        node.add(PathNode{.header = {}, .id = id, .parent = parent, .address = 0x100 + id, .pid = pid, .flags = 0});
    };
    add(1, 2);
    add(2, 3);
    add(3, 1);             // a ring
    add(4, 4);             // its own parent
    add(5, 4'000'000'000); // no such parent
    add(6, 1, 99);         // another process's
    add(5, 1);             // repeated: does not count
    add(0, 1);             // no id
    for (NodeId id = 1001; id < 12'000; ++id)
        add(id, id == 1001 ? 0 : id - 1);
    for (const NodeId path : {1u, 2u, 3u, 4u, 5u, 6u, 0u, 777u, 11'999u})
        sample(node, 42, 42, path, 2 * kSecond);
    auto files = open_all({&node});
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.processes.size() == 1);
    const auto& paths = run.processes[0].paths;
    uint64_t samples = 0;
    for (const model::SampleSite& site : run.processes[0].samples) {
        samples += site.samples;
        size_t depth = 0;
        for (uint32_t at = site.path; at != 0; at = paths[at].parent) {
            REQUIRE(at < paths.size());
            REQUIRE(paths[at].parent < at); // no ring is left
            ++depth;
        }
        CHECK(depth <= FileNodes::kMaxDepth);
    }
    CHECK(samples == 9);
}

TEST_CASE("a small file cannot make a large model") {
    SyntheticTrace node(Writer::recorder, 7);
    const StringId all_cpus = node.text("0-65535");
    const StringId long_name = node.text(std::string(65'000, 'x'));
    NodeId path = 0;
    for (uint64_t depth = 0; depth < 4000; ++depth)
        path = node.node(path, 0x1000 + depth, 0, 0); // of no process in particular
    for (uint32_t pid = 100; pid < 2100; ++pid) {
        ProcessSeen seen{};
        seen.pid = pid;
        seen.time_ns = kSecond;
        seen.executable = seen.name = seen.command_line = long_name;
        node.add(seen);
        ThreadSchedule schedule{};
        schedule.pid = pid;
        schedule.name = long_name;
        schedule.allowed_cpus = all_cpus;
        node.add(schedule, pid);
        sample(node, pid, pid, path, 2 * kSecond);
    }
    auto files = open_all({&node});
    const model::Run run = build_run(files, nullptr);
    CHECK(run.processes.size() == 2000);
    size_t kept = 0;
    for (const model::Process& process : run.processes) {
        kept += process.paths.size() * sizeof(model::PathNode) + process.executable.size() + process.name.size();
        for (const model::Thread& thread : process.threads)
            kept += thread.allowed_cpus.size() * sizeof(int) + thread.name.size();
    }
    CHECK(kept < (100u << 20));
    CHECK(has_note(run, "skipped to bound memory"));
}

TEST_CASE("how a process ended that did not close its record") {
    SyntheticTrace shim(Writer::process, 42), node(Writer::recorder, 7);
    shim.header().flags = 0;
    start(shim, 42, 2 * kSecond, "/bin/app");
    start_thread(shim, 42, 3 * kSecond + 500'000'000, 0, 0);
    see(node, 42, 2 * kSecond, "/bin/app", kSeenExec);
    RunFacts facts = finished_run();
    SECTION("killed") {
        gone(node, 42, 4 * kSecond, SIGKILL);
        auto files = open_all({&shim, &node});
        const model::Run run = build_run(files, &facts);
        CHECK(has_note(run, "process 42 (app) was killed by signal 9: its last record is from 2.500 s"));
    }
    SECTION("not known how") {
        auto files = open_all({&shim, &node});
        CHECK(has_note(build_run(files, &facts), "process 42 (app) did not close its record"));
    }
    SECTION("plumb was killed too") {
        facts.finished = false;
        facts.end_ns = 0;
        auto files = open_all({&shim, &node});
        const model::Run run = build_run(files, &facts);
        CHECK_FALSE(run.complete);
        CHECK(run.end_ns == 3 * kSecond + 500'000'000);
        CHECK(has_note(run, "was killed or still runs"));
        CHECK(has_note(run, "plumb did not finish recording this run"));
    }
}

TEST_CASE("dropped records, unknown records and orphans are said") {
    SyntheticTrace node(Writer::recorder, 7);
    node.header().dropped_records = 17;
    node.header().flags |= kFull;
    const RecordHeader unknown{60'000, sizeof unknown, 0};
    node.add_bytes(std::as_bytes(std::span(&unknown, 1)));
    sample(node, 5, 5, 0, kSecond);
    auto files = open_all({&node});
    const model::Run run = build_run(files, nullptr);
    CHECK(has_note(run, "17 records did not fit below the size limit"));
    CHECK(has_note(run, "1 records of unknown types were skipped"));
    CHECK(has_note(run, "1 records belong to unknown processes"));
    CHECK(has_note(run, "no process was recorded"));
}

TEST_CASE("the clocks of other hosts are set to the first one's") {
    SyntheticTrace here(Writer::process, 42, "here"), there(Writer::process, 42, "there");
    there.header().opened_ns += 50 * kSecond; // booted 50 s earlier
    start(here, 42, 2 * kSecond, "/bin/app");
    start(there, 42, 53 * kSecond, "/bin/app");
    auto files = open_all({&there, &here});
    RunFacts facts = finished_run();
    facts.host = "here";
    const model::Run run = build_run(files, &facts);
    REQUIRE(run.hosts.size() == 2);
    CHECK(run.hosts[0].name == "here");
    REQUIRE(run.processes.size() == 2); // the same pid on two machines
    CHECK(run.processes[0].host == "here");
    CHECK(run.processes[0].start_ns == 2 * kSecond);
    CHECK(run.processes[1].host == "there");
    CHECK(run.processes[1].start_ns == 3 * kSecond);
}

TEST_CASE("ranks that a launcher confined to a CPU each may use both together") {
    SyntheticTrace first(Writer::recorder, 7), second(Writer::recorder, 8);
    for (uint32_t rank : {0u, 1u}) {
        SyntheticTrace& node = rank == 0 ? first : second;
        Topology topology{};
        topology.allowed_cpus = node.text(std::to_string(rank));
        topology.cpu_count = 4;
        node.add(topology);
    }
    for (uint32_t cpu = 0; cpu < 4; ++cpu) { // one recorder watches the node
        CpuInterval interval{};
        interval.cpu = cpu;
        interval.flags = cpu == 0;
        first.add(interval);
    }
    auto files = open_all({&first, &second});
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.hosts.size() == 1);
    CHECK(run.hosts[0].allowed_cpus == model::CpuSet{0, 1});
    for (const model::CpuInterval& interval : run.hosts[0].cpu_intervals)
        CHECK(interval.allowed == (interval.cpu < 2));
}

TEST_CASE("what a recorder says of its node") {
    SyntheticTrace node(Writer::recorder, 7);
    Topology topology{};
    topology.xml = node.text("<topo");
    CHECK(node.text("logy/>") == topology.xml + 1);
    topology.xml_parts = 2;
    topology.allowed_cpus = node.text("0-3");
    topology.cpu_count = 8;
    node.add(topology);
    for (const uint32_t cpu : {1u, 0u}) {
        CpuInterval interval{};
        interval.cpu = cpu;
        interval.flags = cpu;
        interval.begin_ns = 5;
        interval.end_ns = 9;
        node.add(interval);
    }
    OtherProcess other{};
    other.name = node.text("noisy");
    other.flags = kLeavesCpus;
    node.add(other, 777);
    RecorderCost cost{};
    cost.lost_samples = 2;
    node.add(cost);
    Evidence evidence{};
    evidence.source = node.text("pmu");
    evidence.state = static_cast<uint32_t>(EvidenceState::missing);
    for (const uint32_t pid : {1u, 2u}) {
        evidence.pid = pid;
        node.add(evidence);
    }
    auto files = open_all({&node});
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.hosts.size() == 1);
    const model::Host& host = run.hosts[0];
    CHECK(host.topology.xml == "<topology/>");
    CHECK(host.allowed_cpus == model::CpuSet{0, 1, 2, 3});
    CHECK(host.cpu_count == 8);
    REQUIRE(host.cpu_intervals.size() == 2);
    CHECK(host.cpu_intervals[0].cpu == 0);
    CHECK(host.cpu_intervals[1].allowed);
    REQUIRE(host.others.size() == 1);
    CHECK(host.others[0].pid == 777);
    CHECK(host.others[0].name == "noisy");
    CHECK(host.others[0].leaves_cpus);
    CHECK(host.lost_samples == 2);
    REQUIRE(run.evidence.size() == 1); // said twice, kept once
    CHECK(run.evidence[0].state == model::Evidence::State::missing);
}

TEST_CASE("run directories that are none, empty, partly unreadable or of a newer plumb") {
    namespace fs = std::filesystem;
    const fs::path directory = fs::temp_directory_path() / ("plumb-run-test-" + std::to_string(getpid()));
    fs::remove_all(directory);
    CHECK_THROWS_WITH(build_run(directory), Contains("cannot read the run") && Contains(directory.string()));
    fs::create_directory(directory);
    CHECK_THROWS_WITH(build_run(directory), Contains("is not a run of plumb"));
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(directory / name) << text; };
    const auto write_trace = [&](const char* name, SyntheticTrace& trace) {
        write(name, {reinterpret_cast<const char*>(trace.bytes().data()), trace.bytes().size()});
    };
    SECTION("only run.json") {
        write("run.json", R"({"schema":"plumb-run/1","state":"running","command":["a","b"],"begin_ns":5})");
        const model::Run run = build_run(directory);
        CHECK(run.command == std::vector<std::string>{"a", "b"});
        CHECK_FALSE(run.complete);
        CHECK(has_note(run, "no process was recorded"));
    }
    SECTION("damaged run.json alone") {
        write("run.json", "{\"schema\": ");
        CHECK_THROWS_WITH(build_run(directory), Contains("no file of the run") && Contains("not a valid JSON"));
    }
    SECTION("members of other kinds than expected") {
        write("run.json",
              R"({"schema":"plumb-run/1","state":7,"command":["a",{"b":[]}],"exit_status":"x","begin_ns":-5})");
        const model::Run run = build_run(directory);
        CHECK(run.command.size() == 2);
        CHECK_FALSE(run.exit_status.has_value());
    }
    SECTION("newer run.json") {
        write("run.json", R"({"schema":"plumb-run/2"})");
        CHECK_THROWS_AS(build_run(directory), NewerFormat);
    }
    SECTION("one good trace, bad ones, no run.json") {
        SyntheticTrace good(Writer::process, 42);
        start(good, 42, kSecond, "/bin/app");
        write_trace("process-42-1.plumb", good);
        write("process-43-1.plumb", "rubbish");
        write("process-44-1.plumb", "");
        fs::create_directory(directory / "node-x.plumb");
        const model::Run run = build_run(directory);
        CHECK(run.processes.size() == 1);
        uint64_t blocks_bytes = 0; // rubbish takes space, too
        for (const char* name : {"process-42-1.plumb", "process-43-1.plumb"}) {
            struct stat status = {};
            REQUIRE(stat((directory / name).c_str(), &status) == 0);
            blocks_bytes += static_cast<uint64_t>(status.st_blocks) * 512;
        }
        CHECK(run.recorded_bytes == blocks_bytes);
        CHECK(has_note(run, "run.json"));
        CHECK(has_note(run, "process-43-1.plumb: not a trace file"));
        CHECK(has_note(run, "process-44-1.plumb is empty"));
        CHECK(has_note(run, "node-x.plumb is not a regular file"));
    }
    SECTION("a trace of a newer plumb") {
        SyntheticTrace newer(Writer::process, 42);
        newer.header().major = kMajor + 1;
        write_trace("process-42-1.plumb", newer);
        CHECK_THROWS_AS(build_run(directory), NewerFormat);
    }
    fs::remove_all(directory);
}

TEST_CASE("a wait for another process follows it when processes that were no programs are left out") {
    SyntheticTrace node(Writer::recorder, 7);
    see(node, 42, 2 * kSecond, "/bin/app", kSeenExec);
    see(node, 43, 3 * kSecond, "", 0, 42);                  // forked,
    see(node, 43, 3 * kSecond + 500, "/bin/sort", kSeenExec, 42); // and becomes another program
    for (const uint64_t first_ns : {3 * kSecond + 100, 4 * kSecond}) {
        WaitedFor waited{};
        waited.pid = 42;
        waited.relation = kWaitsForPeer;
        waited.peer_pid = waited.peer_tid = 43;
        waited.peer_call = -1;
        waited.looks = 3;
        waited.first_ns = first_ns;
        node.add(waited, 42);
    }
    WaitedFor unknown{};
    unknown.pid = 42;
    unknown.peer_pid = 99;
    unknown.relation = kWaitsForPeer;
    node.add(unknown, 42);
    std::vector<TraceReader> files = open_all({&node});
    const model::Run run = build_run(files, nullptr);
    REQUIRE(run.processes.size() == 2);
    REQUIRE(run.processes[0].waited_for.size() == 1);
    const model::WaitedFor& waited = run.processes[0].waited_for[0];
    REQUIRE(waited.peer_process == 1);
    REQUIRE(waited.peer_thread < run.processes[1].threads.size());
    CHECK(run.processes[1].threads[waited.peer_thread].tid == 43);
    CHECK(waited.looks == 3);
}
