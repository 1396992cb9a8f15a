// Where sampled accesses go between nodes: from made-up samples, a fake /proc and a fake kernel that knows the pages, to
// the trace file and back into the model.
#include "fake_tree.h"
#include "platform/numa_nodes.h"
#include "record/watch/memory/memory_sampling.h"
#include "trace/build_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint32_t kPid = 4'190'002; // above the kernel's largest
constexpr uint64_t kMegabyte = 1 << 20, kMillisecond = 1'000'000;
constexpr uint64_t kTable = 0x7f0000000000, kStack = 0x7fff00000000;

const std::vector<platform::NumaNode> kTwoNodes = {{0, {0, 1}, kMegabyte << 10, {10, 21}},
                                                   {1, {2, 3}, kMegabyte << 10, {21, 10}}};

// The first half of the table lies on node 0, the second on node 1; nothing else was ever touched.
int half_and_half(uint32_t pid, std::span<const uint64_t> addresses, std::span<int> nodes) {
    if (pid != kPid)
        return ESRCH;
    for (size_t i = 0; i < addresses.size(); ++i)
        nodes[i] = addresses[i] < kTable || addresses[i] >= kTable + 8 * kMegabyte ? -ENOENT
                   : addresses[i] < kTable + 4 * kMegabyte                         ? 0
                                                                                   : 1;
    return 0;
}

struct Parts {
    explicit Parts(PageNodeLookup look_up = half_and_half, uint64_t most_bytes = kMegabyte) {
        tree.write(std::to_string(kPid) + "/maps",
                   fmt::format("{:x}-{:x} rw-p 00000000 00:00 0 \n{:x}-{:x} rw-p 00000000 00:00 0  [stack]\n", kTable,
                               kTable + 8 * kMegabyte, kStack, kStack + kMegabyte));
        processes.launch(kPid, 1, "app");
        trace::ProcessSeen seen{}; // as at its exec
        seen.pid = kPid;
        seen.time_ns = 1;
        file.append(trace::RecordType::ProcessSeen, 0, seen);
        memory.emplace(file, processes, kTwoNodes, std::move(look_up), tree.root(), 1, most_bytes);
    }
    void access(uint32_t tid, int cpu, uint64_t address, uint64_t time_ns, uint64_t instruction = 0x401000,
                uint16_t flags = trace::kAlignLoad) {
        memory->take({.pid = kPid, .tid = tid, .cpu = cpu, .time_ns = time_ns, .weight_ns = kMillisecond,
                      .sampled = instruction, .instruction = instruction, .address = address, .width = 8, .flags = flags},
                     0);
    }
    model::Run run() {
        REQUIRE(MemorySampling::is_wanted(file, kTwoNodes, [](auto, auto, auto) { return 0; }, tree.root()));
        memory->write_evidence(file);
        file.close();
        std::vector<trace::TraceReader> files;
        files.emplace_back(path);
        return trace::build_run(files, nullptr);
    }

    FakeTree tree;
    std::string path = tree.root() + "/node-x-1.plumb";
    NodeTraceWriter file{path, 8 * kMegabyte, 64 * kMegabyte};
    ProcessTable processes{file, kMegabyte};
    std::optional<MemorySampling> memory;
};

uint64_t samples_between(const model::Process& process, int cpu_node, int page_node) {
    uint64_t samples = 0;
    for (const model::MemoryTraffic& traffic : process.memory.traffic)
        if (traffic.cpu_node == cpu_node && traffic.page_node == page_node)
            samples += traffic.samples;
    return samples;
}

} // namespace

TEST_CASE("accesses are counted by the node of their CPU and of their page") {
    Parts parts;
    for (uint64_t i = 0; i < 800; ++i) // both threads walk over the whole table
        parts.access(kPid + static_cast<uint32_t>(i % 2), i % 2 ? 2 : 0, kTable + i * 8 * kMegabyte / 800, 1000 + i);
    parts.memory->settle(kMillisecond, false);
    parts.access(kPid, 1, kStack + 64, 5000); // never faulted in, says the kernel
    parts.access(kPid, 77, kTable, 5001);     // a CPU that came later
    parts.memory->settle(2 * kMillisecond, true);
    CHECK(parts.memory->located() == 801);
    CHECK(parts.memory->unknown() == 1);
    const model::Run run = parts.run();
    REQUIRE(run.processes.size() == 1);
    const model::Process& process = run.processes[0];
    for (const auto& [cpu_node, page_node] : {std::pair(0, 0), {0, 1}, {1, 0}, {1, 1}})
        CHECK(samples_between(process, cpu_node, page_node) == 200);
    CHECK(samples_between(process, 0, -1) == 1);
    CHECK(samples_between(process, -1, 0) == 1);
    REQUIRE(process.memory.areas.size() == 2);
    CHECK(process.memory.areas[0].start == kTable);
    CHECK(process.memory.areas[0].end == kTable + 8 * kMegabyte);
    CHECK(process.memory.areas[1].stack);
    uint64_t time_ns = 0;
    for (const model::MemoryTraffic& traffic : process.memory.traffic) {
        time_ns += traffic.time_ns;
        CHECK(traffic.highest_address - traffic.lowest_address < 8 * kMegabyte / DataAreas::kParts);
        CHECK(traffic.kind.load);
    }
    CHECK(time_ns == 802 * kMillisecond);
    uint64_t in_epochs = 0;
    for (const model::MemoryEpoch& epoch : process.memory.epochs)
        in_epochs += epoch.samples;
    CHECK(in_epochs == 802);
    REQUIRE(run.hosts.size() == 1);
    REQUIRE(run.hosts[0].nodes.size() == 2);
    CHECK(run.hosts[0].nodes[1].cpus == std::vector{2, 3});
    CHECK(run.hosts[0].nodes[1].distances == std::vector{21, 10});
}

TEST_CASE("epochs show when a thread moved away from its memory") {
    Parts parts;
    for (uint64_t second = 0; second < 10; ++second) {
        for (uint64_t i = 0; i < 10; ++i)
            parts.access(kPid, second < 5 ? 0 : 3, kTable + 64 * i, second * 1000 * kMillisecond + i + 1);
        parts.memory->settle((second + 1) * 1000 * kMillisecond, second == 9);
    }
    const model::Run run = parts.run();
    const std::vector<model::MemoryEpoch>& epochs = run.processes.at(0).memory.epochs;
    REQUIRE(epochs.size() >= 10);
    for (const model::MemoryEpoch& epoch : epochs) {
        CHECK(epoch.page_node == 0);
        CHECK(epoch.cpu_node == (epoch.begin_ns < 5000 * kMillisecond ? 0 : 1));
    }
}

TEST_CASE("the bytes of a process are bounded, and epochs count what finds no room") {
    constexpr uint64_t kRoom = 64 << 10;
    Parts parts(half_and_half, kRoom);
    for (uint64_t i = 0; i < 5000; ++i) // ever new instructions
        parts.access(kPid, 0, kTable + i * 8, 1000 + i, 0x401000 + i * 4);
    parts.memory->settle(kMillisecond, true);
    CHECK(parts.file.used_bytes() < 2 * kRoom + (64 << 10));
    const model::Run run = parts.run();
    const model::Memory& memory = run.processes.at(0).memory;
    CHECK(memory.traffic.size() * sizeof(trace::MemoryTraffic) <= kRoom);
    CHECK(memory.traffic.size() > 300);
    REQUIRE(memory.epochs.size() == 1);
    CHECK(memory.epochs[0].samples == 5000);
}

TEST_CASE("pages of a process that has ended are not known") {
    Parts parts([](uint32_t, auto, auto) { return ESRCH; });
    parts.access(kPid, 0, kTable, 1000);
    parts.memory->forget(kPid); // settles what waits
    parts.memory->settle(kMillisecond, true);
    CHECK(parts.memory->located() == 0);
    CHECK(parts.memory->unknown() == 1);
    const model::Run run = parts.run();
    CHECK(samples_between(run.processes.at(0), 0, -1) == 1);
    const auto& evidence = run.evidence.back();
    CHECK(evidence.source == "numa");
    CHECK(evidence.state == model::Evidence::State::missing);
    CHECK(evidence.why.find("that ended") != std::string::npos);
}

TEST_CASE("memory that was given back before the kernel was asked is not known, and what came there later is not blamed") {
    int asked = 0;
    Parts parts([&](uint32_t, std::span<const uint64_t> addresses, std::span<int> nodes) {
        ++asked; // the first half is unmapped by now, the second was handed out anew and never touched
        for (size_t i = 0; i < addresses.size(); ++i)
            nodes[i] = addresses[i] < kTable + 4 * kMegabyte ? -EFAULT : -ENOENT;
        return 0;
    });
    for (uint64_t i = 0; i < 100; ++i)
        parts.access(kPid, 0, kTable + i * 8 * kMegabyte / 100, 1000 + i);
    parts.tree.write(std::to_string(kPid) + "/maps", "");
    parts.memory->settle(kMillisecond, true);
    CHECK(asked == 1);
    CHECK(parts.memory->located() == 0);
    CHECK(parts.memory->unknown() == 100);
    const model::Run run = parts.run();
    CHECK(samples_between(run.processes.at(0), 0, -1) == 100);
    CHECK(run.evidence.back().source == "numa");
    CHECK(run.evidence.back().state == model::Evidence::State::missing);
}

TEST_CASE("a kernel that refuses in the middle of a run is reported with its own word") {
    bool refuses = false;
    Parts parts([&](uint32_t pid, std::span<const uint64_t> addresses, std::span<int> nodes) {
        return refuses ? EPERM : half_and_half(pid, addresses, nodes);
    });
    for (uint64_t i = 0; i < 300; ++i) {
        parts.access(kPid, 0, kTable + i * 8, 1000 + i);
        if (i == 99)
            parts.memory->settle(kMillisecond, false);
        refuses = i >= 99;
    }
    parts.memory->settle(2 * kMillisecond, true);
    CHECK(parts.memory->located() == 100);
    CHECK(parts.memory->unknown() == 200);
    const model::Run run = parts.run();
    CHECK(run.evidence.back().state == model::Evidence::State::limited);
    CHECK(run.evidence.back().why.find(std::strerror(EPERM)) != std::string::npos);
}

TEST_CASE("more accesses than can be asked about are counted, not kept") {
    Parts parts;
    constexpr uint64_t kMany = 200'000;
    for (uint64_t i = 0; i < kMany; ++i)
        parts.access(kPid, 0, kTable + i % 1024 * 8, 1000 + i);
    parts.memory->settle(kMillisecond, true);
    CHECK(parts.memory->located() < kMany);
    const uint64_t located = parts.memory->located();
    const model::Run run = parts.run();
    CHECK(run.evidence.back().why.find(std::to_string(kMany - located) + " arrived faster") != std::string::npos);
}

TEST_CASE("mappings of every kind are known for what they are") {
    Parts parts([](uint32_t, std::span<const uint64_t>, std::span<int> nodes) {
        std::ranges::fill(nodes, 1);
        return 0;
    });
    struct Kind {
        const char* rights;
        int inode;
        const char* path;
        bool file, shared, heap;
    };
    const std::vector<Kind> kinds = {{"r--p", 7, "/data/table.bin", true, false, false},
                                     {"rw-p", 7, "/data/table.bin", true, false, false}, // pages of its own once written
                                     {"rw-s", 9, "/dev/shm/window", true, true, false},
                                     {"rw-s", 10, "/memfd:ring (deleted)", true, true, false},
                                     {"rw-s", 11, "/dev/zero (deleted)", true, true, false},
                                     {"rw-s", 12, "/SYSV00000000 (deleted)", true, true, false},
                                     {"rw-p", 13, "/anon_hugepage (deleted)", true, false, false}, // hugetlbfs
                                     {"rw-p", 0, "[heap]", false, false, true},
                                     {"rw-p", 0, "", false, false, false}};
    std::string maps;
    for (size_t i = 0; i < kinds.size(); ++i)
        maps += fmt::format("{:x}-{:x} {} 00000000 08:01 {} {}\n", kTable + i * 4 * kMegabyte,
                            kTable + (i * 4 + 2) * kMegabyte, kinds[i].rights, kinds[i].inode, kinds[i].path);
    parts.tree.write(std::to_string(kPid) + "/maps", maps);
    for (size_t i = 0; i < kinds.size(); ++i)
        parts.access(kPid, 0, kTable + i * 4 * kMegabyte + 64, 1000 + i);
    parts.memory->settle(kMillisecond, true);
    const model::Run run = parts.run();
    const model::Memory& memory = run.processes.at(0).memory;
    REQUIRE(memory.areas.size() == kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
        INFO(kinds[i].path);
        const auto area = std::ranges::find(memory.areas, kTable + i * 4 * kMegabyte, &model::MemoryArea::start);
        REQUIRE(area != memory.areas.end());
        CHECK(area->path == kinds[i].path);
        CHECK(area->file == kinds[i].file);
        CHECK(area->shared == kinds[i].shared);
        CHECK(area->heap == kinds[i].heap);
        CHECK(area->writable == (kinds[i].rights[1] == 'w'));
    }
}

TEST_CASE("a process with ever new mappings is described in a bounded record") {
    Parts parts;
    std::string maps;
    constexpr uint64_t kMany = 5000;
    for (uint64_t i = 0; i < kMany; ++i)
        maps += fmt::format("{:x}-{:x} rw-p 00000000 00:00 0 \n", kTable + i * 8192, kTable + i * 8192 + 4096);
    parts.tree.write(std::to_string(kPid) + "/maps", maps);
    for (uint64_t i = 0; i < kMany; ++i)
        parts.access(kPid, 0, kTable + i * 8192, 1000 + i);
    parts.memory->settle(kMillisecond, true);
    const model::Run run = parts.run();
    const model::Memory& memory = run.processes.at(0).memory;
    CHECK(memory.areas.size() < 2000);
    CHECK(samples_between(run.processes.at(0), 0, 0) + samples_between(run.processes.at(0), 0, 1) <= kMany);
    REQUIRE(memory.epochs.size() >= 1);
    uint64_t in_epochs = 0;
    for (const model::MemoryEpoch& epoch : memory.epochs)
        in_epochs += epoch.samples;
    CHECK(in_epochs == kMany);
}

TEST_CASE("page faults tell who touched what first") {
    Parts parts;
    for (uint64_t i = 0; i < 100; ++i) {
        PerfRecord fault;
        fault.pid = kPid;
        fault.tid = kPid;
        fault.cpu = 0;
        fault.time_ns = 1000 + i;
        fault.address = 0x402000;
        fault.data_address = kTable + i * 8 * kMegabyte / 100;
        parts.memory->take_fault(fault, 20, 0);
    }
    parts.memory->settle(kMillisecond, true);
    const model::Run run = parts.run();
    const model::Memory& memory = run.processes.at(0).memory;
    uint64_t faults = 0;
    for (const model::FirstTouch& touch : memory.touches) {
        CHECK(touch.instruction == 0x402000);
        CHECK(touch.cpu_node == 0);
        CHECK(touch.page_node == (touch.lowest_address < kTable + 4 * kMegabyte ? 0 : 1));
        faults += touch.faults;
    }
    CHECK(faults == 2000);
    CHECK(memory.traffic.empty());
}

TEST_CASE("where all memory is on one node nothing is recorded, and it is said why") {
    FakeTree tree;
    NodeTraceWriter file(tree.root() + "/t.plumb", kMegabyte, kMegabyte);
    const auto never = [](uint32_t, std::span<const uint64_t>, std::span<int>) -> int {
        FAIL("asked for pages");
        return 0;
    };
    tree.write("sys/devices/system/node/online", "0\n");
    tree.write("sys/devices/system/node/node0/cpulist", "0-1\n");
    tree.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  1024 kB\n");
    tree.write("sys/devices/system/node/node0/distance", "10\n");
    const auto nodes = platform::read_numa_nodes(tree.root() + "/sys");
    REQUIRE(nodes.size() == 1);
    CHECK_FALSE(MemorySampling::is_wanted(file, nodes, never, tree.root() + "/proc"));
    tree.write("proc/cmdline", "root=/dev/sda numa=off quiet\n");
    CHECK(platform::numa_is_off(tree.root() + "/proc"));
    CHECK_FALSE(MemorySampling::is_wanted(file, nodes, never, tree.root() + "/proc"));
    CHECK(platform::read_numa_nodes(tree.root() + "/nowhere").empty());
    CHECK_FALSE(MemorySampling::is_wanted(file, {}, never, tree.root() + "/nowhere")); // a kernel without NUMA
    const auto refused = [](uint32_t, std::span<const uint64_t>, std::span<int>) { return EPERM; };
    CHECK_FALSE(MemorySampling::is_wanted(file, kTwoNodes, refused, tree.root() + "/proc"));
    file.close();
    std::vector<trace::TraceReader> files;
    files.emplace_back(tree.root() + "/t.plumb");
    const model::Run run = trace::build_run(files, nullptr);
    REQUIRE(run.evidence.size() == 3); // of the first and the third, which say the same, one
    using State = model::Evidence::State;
    const std::pair<State, const char*> said[] = {
        {State::ok, "one NUMA node"}, {State::missing, "numa=off"}, {State::missing, "move_pages: "}};
    for (size_t i = 0; i < 3; ++i) {
        CHECK(run.evidence[i].source == "numa");
        CHECK(run.evidence[i].state == said[i].first);
        CHECK(run.evidence[i].why.find(said[i].second) != std::string::npos);
    }
}

TEST_CASE("nodes without CPUs and without memory") {
    FakeTree tree;
    tree.write("devices/system/node/online", "0-1,4\n");
    for (const int node : {0, 1, 4}) {
        const std::string folder = fmt::format("devices/system/node/node{}/", node);
        tree.write(folder + "cpulist", node == 4 ? "\n" : node == 0 ? "0-3\n" : "4-7\n");
        tree.write(folder + "meminfo", fmt::format("Node {} MemTotal:  {} kB\n", node, node == 1 ? 0 : 2048));
        tree.write(folder + "distance", node == 4 ? "17 28 10\n" : node == 0 ? "10 21 17\n" : "21 10 28\n");
    }
    const auto nodes = platform::read_numa_nodes(tree.root());
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[0] == platform::NumaNode{0, {0, 1, 2, 3}, 2048 << 10, {10, 21, 17}});
    CHECK(nodes[1].total_bytes == 0);
    CHECK(nodes[2] == platform::NumaNode{4, {}, 2048 << 10, {17, 28, 10}});
    CHECK(platform::memory_node_count(nodes) == 2);
}

TEST_CASE("this machine's own pages are on a node that it has") {
    std::vector<char> touched(64 << 10, 1);
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < touched.size(); i += 4096)
        addresses.push_back(reinterpret_cast<uint64_t>(&touched[i]));
    std::vector<int> nodes(addresses.size(), -1);
    if (const int error = look_up_page_nodes(static_cast<uint32_t>(getpid()), addresses, nodes)) {
        CHECK_FALSE(why_no_page_nodes(look_up_page_nodes).empty());
        WARN("move_pages: " << std::strerror(error));
        return;
    }
    const auto known = platform::read_numa_nodes("/sys");
    for (const int node : nodes)
        CHECK((node >= 0 && (known.empty() || std::ranges::find(known, node, &platform::NumaNode::node) != known.end())));
}
