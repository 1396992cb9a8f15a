// The recorder's parts on made-up records and fake trees: its trace file, process table, call paths, thread monitor.
#include "fake_tree.h"
#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/run/interval.h"
#include "record/watch/node/node_monitor.h"
#include "record/watch/threads/thread_monitor.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kMegabyte = 1 << 20;

// All records of one type, in the order written.
template <class Record> std::vector<Record> records_of(const std::string& path, trace::RecordType type) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<Record> found;
    trace::FileHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    for (size_t at = sizeof header; at < sizeof header + header.next_chunk;) {
        trace::ChunkHeader chunk{};
        std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
        for (size_t place = at + sizeof chunk; place < at + sizeof chunk + chunk.committed;) {
            trace::RecordHeader head{};
            std::memcpy(&head, bytes.data() + place, sizeof head);
            if (head.type == static_cast<uint16_t>(type)) {
                Record record{};
                std::memcpy(&record, bytes.data() + place, sizeof record);
                found.push_back(record);
            }
            place += head.size;
        }
        at += chunk.size;
    }
    return found;
}

PerfRecord event(PerfKind kind, uint32_t pid, uint32_t tid, uint64_t time_ns) {
    PerfRecord record;
    record.kind = kind;
    record.pid = pid;
    record.tid = tid;
    record.time_ns = time_ns;
    return record;
}

PerfRecord mapping(uint32_t pid, uint64_t start, uint64_t length, std::string_view path, uint64_t offset = 0) {
    PerfRecord record = event(PerfKind::mapping, pid, pid, 1);
    record.start = start;
    record.length = length;
    record.page_offset = offset;
    record.text = path;
    return record;
}

constexpr uint32_t kPid = 4'190'001; // above the kernel's largest, so that nothing of it is in the real /proc

struct Parts {
    FakeTree tree;
    std::string path = tree.root() + "/node-x-1.plumb";
    NodeTraceWriter file{path, kMegabyte, 64 * kMegabyte};
    ProcessTable processes{file, kMegabyte};
};

} // namespace

TEST_CASE("the trace file keeps what was written when its writer is killed") {
    FakeTree tree;
    const std::string path = tree.root() + "/t.plumb";
    NodeTraceWriter file(path, kMegabyte, kMegabyte);
    auto* gone = file.append(trace::RecordType::ProcessGone, 5, trace::ProcessGone{});
    REQUIRE(gone);
    update(gone->user_ns, 17);
    // Not closed: read as it is now.
    const auto found = records_of<trace::ProcessGone>(path, trace::RecordType::ProcessGone);
    REQUIRE(found.size() == 1);
    CHECK(found[0].header.tid == 5);
    CHECK(found[0].user_ns == 17);
    CHECK(file.string("abc") == file.string("abc"));
    CHECK(file.string("abc") != file.string("abd"));
    CHECK(file.string("") == 0);
    CHECK_THROWS_AS(NodeTraceWriter(path, kMegabyte, kMegabyte), Error); // never writes over another's file
}

TEST_CASE("the trace file is bounded and counts what found no room") {
    FakeTree tree;
    const std::string path = tree.root() + "/t.plumb";
    NodeTraceWriter file(path, 256 << 10, kMegabyte);
    size_t written = 0;
    while (file.append(trace::RecordType::ProcessGone, 0, trace::ProcessGone{}))
        ++written;
    CHECK(written * sizeof(trace::ProcessGone) <= 256 << 10);
    file.raise_limit(256 << 10);
    CHECK(file.append(trace::RecordType::ProcessGone, 0, trace::ProcessGone{}));
    file.close();
    CHECK(std::filesystem::file_size(path) == file.used_bytes());
    CHECK(records_of<trace::ProcessGone>(path, trace::RecordType::ProcessGone).size() == written + 1);
    CHECK(file.append(trace::RecordType::ProcessGone, 0, trace::ProcessGone{}) == nullptr);
}

TEST_CASE("intervals lengthen with the run") {
    CHECK(interval_ns(0, 1) == kShortestInterval_ns);
    uint64_t age = 0, count = 0;
    for (; age < 3600ull * 24 * 1'000'000'000; ++count)
        age += interval_ns(age, 16);
    CHECK(count < 800); // a day
    CHECK(interval_ns(60'000'000'000, 4096) > interval_ns(60'000'000'000, 16));
}

TEST_CASE("mappings that replace others") {
    Parts parts;
    parts.processes.launch(kPid, 1, "app");
    parts.processes.take(event(PerfKind::exec, kPid, kPid, 1));
    parts.processes.take(mapping(kPid, 0x10000, 0x4000, "/app"));
    Process& process = *parts.processes.find(kPid);
    CHECK(process.executable == "/app");
    parts.processes.write_modules(process);
    parts.processes.take(mapping(kPid, 0x11000, 0x1000, "//anon"));
    REQUIRE(process.modules.size() == 3);
    CHECK(process.module_at(0x10fff)->path == "/app");
    CHECK(process.module_at(0x11000)->flags == trace::kModuleAnonymous);
    CHECK(process.module_at(0x12000)->file_offset == 0x2000);
    CHECK(process.module_at(0x14000) == nullptr);
    CHECK(process.module_at(0xffff) == nullptr);
    parts.file.close();
    CHECK(records_of<trace::ModuleLoad>(parts.path, trace::RecordType::ModuleLoad).size() == 4);
    CHECK(records_of<trace::ModuleUnload>(parts.path, trace::RecordType::ModuleUnload).size() == 1);
}

TEST_CASE("other processes are looked at when they have run") {
    FakeTree proc;
    const auto others = [&](const char* name, int ticks) {
        proc.write("proc/77/stat", "77 (" + std::string(name) + ") S 1 77 77 0 -1 0 0 0 0 0 " + std::to_string(ticks) +
                                       " 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
    };
    const auto node = [&](int ticks) { proc.write("proc/stat", "cpu0 " + std::to_string(ticks) + " 0 0 1000 0 0 0 0 0 0\n"); };
    constexpr uint64_t kSecond = 1'000'000'000;
    Parts parts;
    node(100);
    others("quiet", 40);
    NodeMonitor monitor(parts.file, proc.root() + "/proc", proc.root() + "/sys", 0, {0}, [](uint32_t) { return false; },
                        [] { return std::set<uint32_t>{}; });
    monitor.read(0, {}, 0, false); // what was used before
    node(200);
    others("quiet", 45); // within what the run used: nobody is looked at, or it would be in the file
    monitor.read(2 * kSecond, {{0, kSecond}}, 0, false);
    node(400);
    others("busy", 140);
    monitor.read(5 * kSecond, {}, 0, false);
    parts.file.close();
    const auto found = records_of<trace::OtherProcess>(parts.path, trace::RecordType::OtherProcess);
    REQUIRE(found.size() == 1);
    CHECK(found[0].first_ns == 5 * kSecond);
    CHECK(found[0].cpu_ns == kSecond); // with what it used while it was not looked at
}

TEST_CASE("interrupts and softirqs that came meanwhile are counted by CPU") {
    FakeTree proc;
    proc.write("proc/stat", "cpu0 100 0 0 1000 0 0 0 0 0 0\n");
    proc.write("proc/interrupts", "           CPU0\n LOC:      100   Local timer interrupts\n");
    proc.write("proc/softirqs", "           CPU0\n  NET_RX:      40\n  TIMER:      50\n");
    Parts parts;
    NodeMonitor monitor(parts.file, proc.root() + "/proc", proc.root() + "/sys", 0, {0}, [](uint32_t) { return false; },
                        [] { return std::set<uint32_t>{}; });
    monitor.read(0, {}, 0, false);
    proc.write("proc/interrupts", "           CPU0\n LOC:      350   Local timer interrupts\n");
    proc.write("proc/softirqs", "           CPU0\n  NET_RX:      47\n  TIMER:      50\n");
    monitor.read(2'000'000'000, {}, 0, false);
    parts.file.close();
    const auto found = records_of<trace::InterruptSource>(parts.path, trace::RecordType::InterruptSource);
    REQUIRE(found.size() == 2);
    CHECK(found[0].count == 250);
    CHECK(found[1].count == 7);
}

TEST_CASE("a child has its parent's mappings until it execs") {
    Parts parts;
    parts.processes.launch(kPid, 1, "app");
    parts.processes.take(event(PerfKind::exec, kPid, kPid, 1));
    parts.processes.take(mapping(kPid, 0x10000, 0x4000, "/app"));
    PerfRecord fork = event(PerfKind::fork, kPid + 1, kPid + 1, 2);
    fork.parent_pid = fork.parent_tid = kPid;
    parts.processes.take(fork);
    REQUIRE(parts.processes.find(kPid + 1));
    CHECK(parts.processes.find(kPid + 1)->module_at(0x10000));
    CHECK(parts.processes.find(kPid + 1)->generation != parts.processes.find(kPid)->generation);
    parts.processes.take(event(PerfKind::exec, kPid + 1, kPid + 1, 3));
    CHECK_FALSE(parts.processes.find(kPid + 1)->module_at(0x10000));
    CHECK(parts.processes.find(kPid)->module_at(0x10000));
    parts.processes.take(event(PerfKind::exit, kPid + 1, kPid + 1, 4));
    CHECK_FALSE(parts.processes.find(kPid + 1));
    CHECK(parts.processes.was_seen(kPid + 1));
}

TEST_CASE("samples become counts of call paths") {
    Parts parts;
    Profile profile(parts.file, parts.processes, kMegabyte);
    parts.processes.launch(kPid, 1, "app");
    parts.processes.take(event(PerfKind::exec, kPid, kPid, 1));
    parts.processes.take(mapping(kPid, 0x10000, 0x4000, "/app"));
    parts.processes.take(mapping(kPid, 0x20000, 0x4000, "/lib/libc.so.6"));
    PerfRecord sample = event(PerfKind::sample, kPid, kPid, 10);
    sample.address = 0x10100;
    const uint64_t user = PERF_CONTEXT_USER, kernel = PERF_CONTEXT_KERNEL;
    const std::vector<uint64_t> whole{user, 0x10100, 0x10200, 0x20300}, garbage{user, 0x10100, 0x99999999},
        in_kernel{kernel, 0xffffffff81000000, user, 0x20300};
    sample.chain = whole;
    for (int i = 0; i < 3; ++i)
        profile.take(sample, 1000);
    sample.chain = garbage; // no frame pointers
    profile.take(sample, 1000);
    sample.in_kernel = true;
    sample.chain = in_kernel;
    profile.take(sample, 1000);
    parts.file.close();

    const auto nodes = records_of<trace::PathNode>(parts.path, trace::RecordType::PathNode);
    const auto sites = records_of<trace::SampleSite>(parts.path, trace::RecordType::SampleSite);
    REQUIRE(sites.size() == 3);
    CHECK(sites[0].samples == 3);
    CHECK(sites[0].time_ns == 3000);
    const trace::PathNode leaf = nodes.at(sites[0].path - 1);
    CHECK(leaf.address == 0x10100);
    CHECK(leaf.flags == trace::kPathLeaf);
    CHECK(nodes.at(leaf.parent - 1).address == 0x10200);
    const trace::PathNode outermost = nodes.at(nodes.at(leaf.parent - 1).parent - 1);
    CHECK(outermost.address == 0x20300);
    CHECK(outermost.parent == 0);
    CHECK(outermost.flags == 0); // libc started it: the chain is whole
    CHECK(nodes.at(sites[1].path - 1).flags == (trace::kPathLeaf | trace::kPathTruncated));
    CHECK(nodes.at(sites[2].path - 1).flags == (trace::kPathLeaf | trace::kPathKernel));
    CHECK(sites[2].kernel == 1);
}

TEST_CASE("threads are read from a fake /proc") {
    Parts parts;
    FakeTree proc;
    const auto set = [&](uint32_t tid, uint64_t run, uint64_t delay, int user_ticks, int cpu) {
        const std::string folder = "50/task/" + std::to_string(tid) + "/";
        proc.write(folder + "schedstat", std::to_string(run) + " " + std::to_string(delay) + " 1\n");
        proc.write(folder + "stat", std::to_string(tid) + " (worker) R 1 1 1 0 0 0 7 0 2 0 " +
                                        std::to_string(user_ticks) + " 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 " +
                                        std::to_string(cpu) + " 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        proc.write(folder + "status", "Cpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t4\n"
                                      "nonvoluntary_ctxt_switches:\t5\n");
    };
    constexpr uint64_t kBegin = 1'000'000'000, kTick = 100'000'000;
    ThreadMonitor monitor(parts.file, proc.root(), kBegin);
    monitor.add(50, 50, kBegin);
    monitor.add(50, 51, kBegin);
    set(50, 1000, 10, 1, 0);
    set(51, 2000, 20, 2, 1);
    monitor.read(kBegin + kTick, false);
    set(50, 51000, 60, 3, 2);
    monitor.read(kBegin + 2 * kTick, false);
    // The second thread ends between two readings: what was sampled since is added.
    PerfRecord sample = event(PerfKind::sample, 50, 51, kBegin + 2 * kTick + 5);
    sample.cpu = 3;
    monitor.take(sample, 700);
    monitor.take(event(PerfKind::exit, 50, 51, kBegin + 2 * kTick + 10), 0);
    CHECK(monitor.living() == 1);
    CHECK(monitor.take_run_by_cpu() == std::map<int, uint64_t>{{3, 700}});
    CHECK(monitor.take_run_by_cpu().empty());
    parts.file.close();

    const auto threads = records_of<trace::ThreadSchedule>(parts.path, trace::RecordType::ThreadSchedule);
    REQUIRE(threads.size() == 2);
    const auto& first = threads[0].header.tid == 50 ? threads[0] : threads[1];
    const auto& second = threads[0].header.tid == 50 ? threads[1] : threads[0];
    CHECK(first.run_ns == 51000);
    CHECK(first.run_delay_ns == 60);
    CHECK(first.minor_faults == 7);
    CHECK(first.major_faults == 2);
    CHECK(first.voluntary_switches == 4);
    CHECK(first.involuntary_switches == 5);
    CHECK(first.migrations == 1); // seen: from CPU 0 to 2
    CHECK(first.flags == 0);
    CHECK(second.run_ns == 2700);
    CHECK(second.flags == 2);
    const auto intervals = records_of<trace::ThreadInterval>(parts.path, trace::RecordType::ThreadInterval);
    REQUIRE(intervals.size() == 3); // the second thread slept in the second interval
    CHECK(intervals[2].header.tid == 50);
    CHECK(intervals[2].run_ns == 50000);
    CHECK(intervals[2].cpu == 2);
    CHECK(intervals[2].state == 'R');
}

TEST_CASE("the last stretch of a thread begins at its last reading, whoever was read since") {
    Parts parts;
    FakeTree proc;
    const auto set = [&](uint32_t pid, uint64_t run, uint64_t delay) {
        const std::string folder = std::to_string(pid) + "/task/" + std::to_string(pid) + "/";
        proc.write(folder + "schedstat", std::to_string(run) + " " + std::to_string(delay) + " 1\n");
        proc.write(folder + "stat", std::to_string(pid) + " (worker) R 1 1 1 0 0 0 7 0 2 0 3 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 "
                                    "0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    };
    constexpr uint64_t kBegin = 1'000'000'000, kTick = 200'000'000;
    ThreadMonitor monitor(parts.file, proc.root(), kBegin);
    monitor.add(50, 50, kBegin);
    monitor.add(51, 51, kBegin);
    set(50, 1000, 10);
    set(51, kTick / 4, kTick / 2); // for the rest of its time it slept
    monitor.read(kBegin + kTick, false);
    proc.remove("51/task");
    monitor.read_last(50, kBegin + 3 * kTick); // the first process has ended, and the record of the other's end comes later
    PerfRecord sample = event(PerfKind::sample, 51, 51, kBegin + kTick + 5);
    monitor.take(sample, kTick / 4);
    monitor.take(event(PerfKind::exit, 51, 51, kBegin + 2 * kTick), 0);
    parts.file.close();

    std::vector<trace::ThreadInterval> ended;
    for (const auto& interval : records_of<trace::ThreadInterval>(parts.path, trace::RecordType::ThreadInterval))
        if (interval.header.tid == 51)
            ended.push_back(interval);
    REQUIRE(ended.size() == 2);
    CHECK(ended[1].begin_ns == kBegin + kTick);
    CHECK(ended[1].end_ns == kBegin + 2 * kTick);
    CHECK(ended[1].run_ns == kTick / 4);
    CHECK(static_cast<double>(ended[1].run_delay_ns) == Approx(kTick / 2.0).epsilon(1e-6)); // two thirds of the time in which it did not run, as before
}

TEST_CASE("an image that was exec'd starts from nothing") {
    Parts parts;
    FakeTree proc;
    proc.write("60/task/60/schedstat", "5000 0 1\n");
    proc.write("60/task/60/stat", "60 (sh) R 1 1 1 0 0 0 7 0 2 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 "
                                  "0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    ThreadMonitor monitor(parts.file, proc.root(), 0);
    monitor.add(60, 60, 0);
    monitor.read(100, false);
    PerfRecord exec = event(PerfKind::exec, 60, 60, 200);
    exec.text = "solver";
    monitor.take(exec, 0);
    proc.write("60/task/60/schedstat", "8000 0 1\n");
    monitor.read(300, false);
    parts.file.close();
    const auto threads = records_of<trace::ThreadSchedule>(parts.path, trace::RecordType::ThreadSchedule);
    REQUIRE(threads.size() == 2);
    CHECK(threads[0].run_ns == 5000);
    CHECK(threads[1].run_ns == 3000);
}
