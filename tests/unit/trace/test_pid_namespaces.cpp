// Containers on one node use the same host name and the same small pids: what their files say must not be mixed.
#include "trace_test.h"

#include <plumb/machine.h>

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::trace;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kOuter = 4026531836, kInner = 4026532281, kOther = 4026532290;

struct Shim : SyntheticTrace {
    Shim(uint64_t pid_namespace, uint32_t pid, uint64_t time_ns, uint64_t allocations, uint32_t parent = 0)
        : SyntheticTrace(Writer::process, pid) {
        header().pid_namespace = pid_namespace;
        header().machine = 77;
        ProcessStart start{};
        start.pid = pid;
        start.parent_pid = parent;
        start.time_ns = time_ns;
        start.executable = text("/bin/app");
        start.rank = start.rank_count = start.local_rank = -1;
        add(start);
        HeapTotals totals{};
        totals.allocations = allocations;
        add(totals, pid);
        add(ThreadStart{.header = {}, .time_ns = time_ns, .start_routine = 0, .creator_tid = 0, .creation_path = 0}, pid);
    }
};

struct Node : SyntheticTrace {
    explicit Node(uint64_t pid_namespace) : SyntheticTrace(Writer::recorder, 1) {
        header().pid_namespace = pid_namespace;
        header().machine = 77;
    }
    void see(uint32_t pid, uint64_t time_ns, uint32_t flags, uint64_t inner_namespace = 0, uint32_t inner_pid = 0) {
        ProcessSeen seen{};
        seen.pid = pid;
        seen.parent_pid = 1;
        seen.time_ns = time_ns;
        seen.name = text("app");
        seen.flags = flags;
        seen.pid_namespace = inner_namespace;
        seen.inner_pid = inner_pid;
        add(seen);
    }
    void sample(uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t samples) {
        SampleSite site{};
        site.pid = pid;
        site.path = node(0, 0x1000 + pid, kPathLeaf, pid);
        site.samples = samples;
        site.first_ns = site.last_ns = time_ns;
        add(site, tid);
    }
    void schedule(uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t run_ns, uint32_t inner_tid) {
        ThreadSchedule schedule{};
        schedule.pid = pid;
        schedule.first_ns = time_ns;
        schedule.last_ns = time_ns + kSecond;
        schedule.run_ns = run_ns;
        schedule.inner_tid = inner_tid;
        add(schedule, tid);
    }
};

model::Run build(std::initializer_list<SyntheticTrace*> traces) {
    std::vector<TraceReader> files;
    for (SyntheticTrace* trace : traces)
        files.push_back(trace->open());
    return build_run(files, nullptr);
}

} // namespace

TEST_CASE("equal pids of two PID namespaces are two processes", "[namespaces]") {
    Shim first(kInner, 2, 2 * kSecond, 10), second(kOther, 2, 2 * kSecond + 5, 30);
    Node left(kInner), right(kOther);
    left.see(2, 2 * kSecond - 100, kSeenExec);
    left.sample(2, 2, 3 * kSecond, 7);
    right.see(2, 2 * kSecond - 90, kSeenExec);
    right.sample(2, 2, 3 * kSecond, 9);
    const model::Run run = build({&first, &second, &left, &right});
    REQUIRE(run.hosts.size() == 1);
    REQUIRE(run.processes.size() == 2);
    for (const model::Process& process : run.processes) {
        const bool is_first = process.pid_namespace == kInner;
        CHECK(process.pid == 2);
        CHECK(process.heap.allocations == (is_first ? 10 : 30));
        CHECK(samples_of(process) == (is_first ? 7 : 9));
        CHECK(process.threads.size() == 1);
        REQUIRE(process.samples.size() == 1);
        CHECK(process.paths[process.samples[0].path].address == 0x1002);
    }
    CHECK(run.processes[0].pid_namespace != run.processes[1].pid_namespace);
}

TEST_CASE("a container below the recorder: both numbers of a process and of its threads are one", "[namespaces]") {
    Shim inside(kInner, 2, 2 * kSecond, 10, 0), unrelated(kOuter, 2, kSecond, 5);
    inside.add(ThreadStart{.header = {}, .time_ns = 3 * kSecond, .start_routine = 0x1, .creator_tid = 2, .creation_path = 0}, 3);
    Node node(kOuter);
    node.see(2, kSecond - 10, kSeenExec);
    node.see(501, 2 * kSecond - 200, 0); // fork: gone from there before it was looked at
    node.see(501, 2 * kSecond - 100, kSeenExec, kInner, 2);
    node.sample(501, 501, 3 * kSecond, 7);
    node.sample(501, 502, 4 * kSecond, 9);
    node.schedule(501, 501, 2 * kSecond, 111, 2);
    node.schedule(501, 502, 3 * kSecond, 222, 3);
    node.sample(2, 2, 3 * kSecond, 100);
    const model::Run run = build({&inside, &unrelated, &node});
    REQUIRE(run.processes.size() == 2);
    const model::Process& outer = run.processes[0];
    const model::Process& inner = run.processes[1];
    CHECK(outer.heap.allocations == 5);
    CHECK(samples_of(outer) == 100);
    CHECK(inner.heap.allocations == 10);
    CHECK(samples_of(inner) == 16);
    CHECK(inner.pid == 2);
    CHECK(inner.name == "app");
    REQUIRE(inner.threads.size() == 2);
    CHECK(inner.threads[0].tid == 2);
    CHECK(inner.threads[0].run_ns == 111);
    CHECK(inner.threads[1].tid == 3);
    CHECK(inner.threads[1].run_ns == 222);
    REQUIRE(inner.samples.size() == 2);
    CHECK(inner.paths[inner.samples[0].path].address == 0x1000 + 501);
}

TEST_CASE("a program that cannot say its namespace is in its recorder's", "[namespaces]") {
    Shim blind(0, 42, 2 * kSecond, 10);
    blind.header().machine = 0;
    Node node(kInner);
    node.see(42, 2 * kSecond - 100, kSeenExec);
    node.sample(42, 42, 3 * kSecond, 7);
    const model::Run run = build({&blind, &node});
    REQUIRE(run.hosts.size() == 1);
    REQUIRE(run.processes.size() == 1);
    CHECK(run.processes[0].heap.allocations == 10);
    CHECK(samples_of(run.processes[0]) == 7);
}

TEST_CASE("a fork inherits the mappings of the parent in its own namespace", "[namespaces]") {
    Shim left(kInner, 2, 2 * kSecond, 1), right(kOther, 2, 2 * kSecond, 1);
    for (Shim* shim : {&left, &right}) {
        ModuleLoad load{};
        load.id = 1;
        load.pid = 2;
        load.time_ns = 2 * kSecond;
        load.start = 0x1000;
        load.end = 0x2000;
        load.path = shim->text(shim == &left ? "/left" : "/right");
        shim->add(load);
    }
    SyntheticTrace child(Writer::process, 3);
    child.header().pid_namespace = kOther;
    child.header().machine = 77;
    ProcessStart start{};
    start.pid = 3;
    start.parent_pid = 2;
    start.time_ns = 3 * kSecond;
    start.flags = kStartForked;
    start.rank = start.rank_count = start.local_rank = -1;
    child.add(start);
    HeapTotals totals{};
    totals.allocations = 1;
    child.add(totals, 3);
    const model::Run run = build({&left, &right, &child});
    REQUIRE(run.processes.size() == 3);
    const model::Process& forked = run.processes[2];
    CHECK(forked.pid == 3);
    REQUIRE(forked.modules.size() == 1);
    CHECK(forked.modules[0].path == "/right");
}

TEST_CASE("machines of one name are two hosts", "[namespaces]") {
    Shim here(kOuter, 2, 2 * kSecond, 10), there(kOuter, 2, 2 * kSecond, 30);
    there.header().machine = 78;
    const model::Run run = build({&here, &there});
    REQUIRE(run.hosts.size() == 2);
    CHECK(run.hosts[0].name == "host");
    CHECK(run.hosts[1].name == "host (2)");
    REQUIRE(run.processes.size() == 2);
    CHECK(run.processes[0].host != run.processes[1].host);
}

TEST_CASE("the machine's number comes from the digits of the boot id", "[namespaces]") {
    CHECK(machine_of("", 0) == 0);
    CHECK(machine_of("-\n", 2) == 0);
    CHECK(machine_of("0a-1\n", 5) == machine_of("0a1", 3));
    CHECK(machine_of("0a1", 3) != machine_of("0a2", 3));
}
