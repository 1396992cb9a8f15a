// Diagnoses of remote memory on made-up runs of a machine with two nodes: each fires on its own pattern with the object
// and the lines, and none fires on the cured program or on innocent ones.
#include "analyses/memory/memory_objects.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::testing;

namespace {

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kArray = 0x600000, kArrayBytes = 8 * kMegabyte; // the static `a`
constexpr uint64_t kBlock = 0x7f0000000000, kBlockBytes = 64 * kMegabyte;
constexpr uint64_t kFill = 0x401000, kUse = 0x402000, kAllocate = 0x403000;
constexpr int kThreads = 4;
const char* const kAll[] = {"memory-hot-node", "serial-first-touch", "memory-left-behind", "memory-remote",
                            "page-cache-spill", "memory-spacing"};

int node_of(int thread) { return thread / 2; }

struct Scene : SyntheticRun {
    Scene() : SyntheticRun(10, kThreads) {
        run.hosts[0].nodes = {{0, uint64_t{1} << 30, {0, 1}, {10, 20}}, {1, uint64_t{1} << 30, {2, 3}, {20, 10}}};
        for (int cpu = 0; cpu < kThreads; ++cpu)
            add_thread(cpu, 1, 0);
        name(kFill, "fill", "app", "init.f90", 12);
        name(kUse, "sweep", "app", "solve.f90", 40);
        name(kAllocate, "main", "app", "main.f90", 7);
        resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
            if (address < kArray || address >= kArray + kArrayBytes)
                return std::nullopt;
            model::DataName name;
            name.name = "a";
            name.size = kArrayBytes;
            name.offset = address - kArray;
            return name;
        };
        model::LargeBlock block;
        block.start = kBlock;
        block.bytes = kBlockBytes;
        block.from_ns = run.begin_ns;
        block.path = add_path({kAllocate}, false);
        memory().blocks.push_back(block);
        const uint32_t path = add_path({kUse});
        for (uint32_t thread = 0; thread < kThreads; ++thread) // all of the CPU time was sampled
            add_samples(thread, path, 10'000);
        finish();
    }
    model::Memory& memory() { return run.processes[0].memory; }

    // `samples` of 1 ms between two moments, in seconds since the launch.
    void access(int thread, int cpu_node, int page_node, uint64_t low, uint64_t bytes, uint64_t samples,
                bool store = false, double from = 1, double to = 10) {
        model::MemoryTraffic traffic;
        traffic.thread = static_cast<uint32_t>(thread);
        traffic.instruction = kUse;
        traffic.kind = {.width = 8, .load = !store, .store = store};
        traffic.cpu_node = cpu_node;
        traffic.page_node = page_node;
        traffic.samples = samples;
        traffic.time_ns = samples * 1'000'000;
        traffic.lowest_address = low;
        traffic.highest_address = traffic.last_address = low + bytes - 8;
        traffic.first_ns = run.begin_ns + ns(from);
        traffic.last_ns = run.begin_ns + ns(to);
        memory().traffic.push_back(traffic);
    }
    void touch(int thread, int cpu_node, int page_node, uint64_t low, uint64_t bytes) {
        model::FirstTouch touch;
        touch.thread = static_cast<uint32_t>(thread);
        touch.instruction = kFill;
        touch.cpu_node = cpu_node;
        touch.page_node = page_node;
        touch.samples = 10;
        touch.faults = bytes / 4096;
        touch.lowest_address = low;
        touch.highest_address = low + bytes - 4096;
        touch.first_ns = touch.last_ns = run.begin_ns + ns(0.5);
        memory().touches.push_back(touch);
    }
    // What all accesses of a thread were between two moments, in samples of 1 ms.
    void epoch(int thread, int cpu_node, int page_node, double from, double to, uint64_t samples) {
        model::MemoryEpoch epoch;
        epoch.thread = static_cast<uint32_t>(thread);
        epoch.cpu_node = cpu_node;
        epoch.page_node = page_node;
        epoch.begin_ns = run.begin_ns + ns(from);
        epoch.end_ns = run.begin_ns + ns(to);
        epoch.samples = samples;
        epoch.time_ns = samples * 1'000'000;
        memory().epochs.push_back(epoch);
    }
    // Memory of a node at one moment, in MiB and pages of numastat.
    void node(int node, double at, uint64_t free, uint64_t file, uint64_t local, uint64_t foreign) {
        model::NodeMemory memory;
        memory.node = node;
        memory.time_ns = run.begin_ns + ns(at);
        memory.total_bytes = 1024 * kMegabyte;
        memory.free_bytes = free * kMegabyte;
        memory.file_bytes = file * kMegabyte;
        memory.local_allocations = local;
        memory.foreign_allocations = foreign;
        run.hosts[0].memory.push_back(memory);
    }
    // Which of the diagnoses fire.
    std::vector<std::string> fired() {
        std::vector<std::string> ids;
        for (const char* id : kAll)
            for (const Finding& finding : diagnose(id))
                ids.push_back(finding.id);
        return ids;
    }
};

std::string text(const Finding& finding, const char* key) {
    REQUIRE(finding.evidence.contains(key));
    return std::get<std::string>(finding.evidence.at(key));
}

uint64_t part_of(int thread) { return kBlock + static_cast<uint64_t>(thread) * kBlockBytes / kThreads; }

} // namespace

TEST_CASE("a table that all threads read from one node is a hot node") {
    Scene scene;
    scene.touch(0, 0, 0, kArray, kArrayBytes);
    for (int thread = 0; thread < kThreads; ++thread)
        scene.access(thread, node_of(thread), 0, kArray, kArrayBytes, 4000);
    CHECK(scene.fired() == std::vector<std::string>{"memory-hot-node"});
    const Finding finding = scene.diagnose("memory-hot-node").at(0);
    CHECK(finding.subject.kind == "variable");
    CHECK(finding.subject.name == "a");
    REQUIRE(!finding.where.empty());
    CHECK(finding.where[0].file == "solve.f90");
    CHECK(finding.where[0].line == 40);
    CHECK(text(finding, "first_touched_at") == "init.f90:12");
    CHECK(std::get<bool>(finding.evidence.at("read_only")));
    CHECK(std::get<int64_t>(finding.evidence.at("memory_node")) == 0);
    CHECK(std::get<double>(finding.evidence.at("remote_fraction")) == Approx(0.5));
    CHECK(finding.cost.how == "bound");
    CHECK(finding.cost.fraction == Approx(8.0 / 40)); // two of four threads, 4 of their 10 s
    CHECK(finding.advice[0].what.find("copy") != std::string::npos);
}

TEST_CASE("a hot table that others write is not to be copied") {
    Scene scene;
    scene.touch(0, 0, 0, kArray, kArrayBytes);
    for (int thread = 0; thread < kThreads; ++thread) {
        scene.access(thread, node_of(thread), 0, kArray, kArrayBytes, 3000);
        scene.access(thread, node_of(thread), 0, kArray, kArrayBytes, 1000, true);
    }
    CHECK(scene.fired() == std::vector<std::string>{"memory-hot-node"});
    const Finding finding = scene.diagnose("memory-hot-node").at(0);
    CHECK_FALSE(std::get<bool>(finding.evidence.at("read_only")));
    CHECK(finding.advice[0].what.find("copy") == std::string::npos);
    CHECK(finding.advice[0].command.find("--interleave") != std::string::npos);
}

TEST_CASE("copies on each node, and a table spread over the nodes, are no finding") {
    Scene copies;
    for (int thread = 0; thread < kThreads; ++thread) {
        copies.touch(thread, node_of(thread), node_of(thread), part_of(thread), 8 * kMegabyte);
        copies.access(thread, node_of(thread), node_of(thread), part_of(thread), 8 * kMegabyte, 4000);
    }
    CHECK(copies.fired().empty());
    Scene spread;
    for (int thread = 0; thread < kThreads; ++thread)
        for (int node = 0; node < 2; ++node)
            spread.access(thread, node_of(thread), node, kArray, kArrayBytes, 2000);
    CHECK(spread.fired().empty());
}

TEST_CASE("parts of one block that one thread touched are a serial first touch") {
    Scene scene;
    scene.touch(0, 0, 0, kBlock, kBlockBytes);
    for (int thread = 0; thread < kThreads; ++thread)
        scene.access(thread, node_of(thread), 0, part_of(thread), kBlockBytes / kThreads, 4000, thread % 2 == 1);
    CHECK(scene.fired() == std::vector<std::string>{"serial-first-touch"});
    const Finding finding = scene.diagnose("serial-first-touch").at(0);
    CHECK(finding.subject.kind == "allocation");
    CHECK(finding.subject.name == "main.f90:7");
    REQUIRE(finding.where.size() == 2);
    CHECK(finding.where[0].line == 12); // the loop that touches
    CHECK(finding.where[1].line == 40); // the loop that uses
    CHECK(text(finding, "used_at") == "solve.f90:40");
    CHECK(finding.advice[0].how.find("init.f90:12") != std::string::npos);
    Scene cured;
    for (int thread = 0; thread < kThreads; ++thread) {
        cured.touch(thread, node_of(thread), node_of(thread), part_of(thread), kBlockBytes / kThreads);
        cured.access(thread, node_of(thread), node_of(thread), part_of(thread), kBlockBytes / kThreads, 4000);
    }
    CHECK(cured.fired().empty());
}

TEST_CASE("a serial first touch is seen without page faults, too, with less confidence") {
    Scene scene;
    for (int thread = 0; thread < kThreads; ++thread)
        scene.access(thread, node_of(thread), 0, part_of(thread), kBlockBytes / kThreads, 4000);
    CHECK(scene.fired() == std::vector<std::string>{"serial-first-touch"});
    const Finding finding = scene.diagnose("serial-first-touch").at(0);
    CHECK(finding.confidence < 0.9);
    CHECK_FALSE(finding.evidence.contains("first_touched_at"));
}

TEST_CASE("a thread that was moved away from what it touched left its memory behind") {
    Scene scene;
    scene.touch(1, 0, 0, kBlock, kBlockBytes);
    scene.access(1, 0, 0, kBlock, kBlockBytes, 1000, false, 1, 2);
    scene.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 2, 10);
    CHECK(scene.fired() == std::vector<std::string>{"memory-left-behind"});
    const Finding finding = scene.diagnose("memory-left-behind").at(0);
    CHECK(finding.subject.name == "main.f90:7");
    CHECK(finding.cost.how == "estimated");
    CHECK(finding.cost.fraction == Approx(6.0 / 40 / 2)); // twice as far: half of the time
    CHECK(finding.advice[0].command.find("--pin") != std::string::npos);
    Scene stayed;
    stayed.touch(1, 0, 0, kBlock, kBlockBytes);
    stayed.access(1, 0, 0, kBlock, kBlockBytes, 7000);
    CHECK(stayed.fired().empty());
}

TEST_CASE("a visit to the node of its memory is no stay: the thread did not leave it behind") {
    Scene scene; // somebody bound the memory to node 0, the thread is at home on node 1
    scene.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 1, 10);
    scene.access(1, 0, 0, kBlock, kBlockBytes, 100, false, 4, 4.1);
    scene.epoch(1, 1, 0, 1, 4, 2000);
    scene.epoch(1, 0, 0, 4, 4.1, 100);
    scene.epoch(1, 1, 0, 4.1, 10, 4000);
    CHECK(scene.fired() == std::vector<std::string>{"memory-remote"});
    Scene touched = scene; // the same, and another thread is seen to have touched it first
    touched.touch(0, 0, 0, kBlock, kBlockBytes);
    CHECK(touched.fired() == std::vector<std::string>{"serial-first-touch"});
    Scene began; // it began on the node, as every process does somewhere, and used other memory there
    began.touch(0, 0, 0, kBlock, kBlockBytes);
    began.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 2, 10);
    began.epoch(1, 0, 0, 0, 2, 2000);
    began.epoch(1, 1, 0, 2, 10, 6000);
    CHECK(began.fired() == std::vector<std::string>{"serial-first-touch"});
}

TEST_CASE("a thread that stayed with its memory for long left it behind, whether or not its faults were seen") {
    Scene used;
    used.access(1, 0, 0, kBlock, kBlockBytes, 1500, false, 1, 3);
    used.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 3, 10);
    CHECK(used.fired() == std::vector<std::string>{"memory-left-behind"});
    Scene stayed; // it used other memory there
    stayed.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 3, 10);
    stayed.epoch(1, 0, 0, 1, 3, 1500);
    stayed.epoch(1, 1, 0, 3, 10, 6000);
    CHECK(stayed.fired() == std::vector<std::string>{"memory-left-behind"});
    Scene at_once; // moved as soon as it had touched it
    at_once.touch(1, 0, 0, kBlock, kBlockBytes);
    at_once.access(1, 1, 0, kBlock, kBlockBytes, 6000, false, 1, 10);
    CHECK(at_once.fired() == std::vector<std::string>{"memory-left-behind"});
}

TEST_CASE("remote memory without a known cause is reported as such") {
    Scene scene;
    scene.access(0, 0, 1, kBlock, kBlockBytes, 4000);
    CHECK(scene.fired() == std::vector<std::string>{"memory-remote"});
}

TEST_CASE("little remote memory, and a machine of one node, are no finding") {
    Scene few;
    few.access(0, 0, 0, kBlock, kBlockBytes, 4000);
    few.access(0, 0, 1, kBlock, kBlockBytes, 19);
    CHECK(few.fired().empty());
    Scene cheap; // half of its accesses are remote, but they are 0.1 % of the run
    cheap.access(0, 0, 0, kBlock, kBlockBytes, 40);
    cheap.access(0, 0, 1, kBlock, kBlockBytes, 40);
    CHECK(cheap.fired().empty());
    Scene nothing;
    nothing.run.hosts[0].nodes.clear();
    CHECK(nothing.fired().empty());
    model::CallPaths paths(nothing.run, nothing.resolver);
    CHECK_FALSE(memory_use_of(paths).recorded);
}

TEST_CASE("the same object of several processes is one finding") {
    Scene scene;
    scene.touch(0, 0, 0, kArray, kArrayBytes);
    for (int thread = 0; thread < kThreads; ++thread)
        scene.access(thread, node_of(thread), 0, kArray, kArrayBytes, 2000);
    scene.run.processes.push_back(scene.run.processes[0]);
    const std::vector<Finding> findings = scene.diagnose("memory-hot-node");
    REQUIRE(findings.size() == 1);
    CHECK(std::get<int64_t>(findings[0].evidence.at("thread_count")) == 2 * kThreads);
}

TEST_CASE("a block that was given back is not what is there later") {
    Scene scene;
    scene.memory().blocks[0].until_ns = scene.run.begin_ns + SyntheticRun::ns(0.9);
    model::MemoryArea area;
    area.start = kBlock;
    area.end = kBlock + kBlockBytes;
    scene.memory().areas.push_back(area);
    scene.access(0, 0, 1, kBlock, kBlockBytes, 4000);
    scene.memory().traffic[0].area = 0;
    const std::vector<Finding> findings = scene.diagnose("memory-remote");
    CHECK_FALSE(findings.at(0).evidence.contains("second_witness")); // nothing was counted
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name.find("anonymous memory") == 0);
}

TEST_CASE("memory that a node full of cached files had no room for") {
    Scene scene;
    scene.node(0, 0, 40, 900, 100'000, 0);
    scene.node(1, 0, 900, 50, 100'000, 0);
    scene.node(0, 10, 30, 900, 104'000, 12'000); // 12,000 of 16,000 pages went elsewhere
    scene.node(1, 10, 850, 50, 100'000, 0);
    scene.touch(0, 0, 1, kBlock, kBlockBytes * 3 / 4);
    scene.touch(0, 0, 0, kBlock + kBlockBytes * 3 / 4, kBlockBytes / 4);
    scene.access(0, 0, 1, kBlock, kBlockBytes * 3 / 4, 6000);
    scene.access(0, 0, 0, kBlock + kBlockBytes * 3 / 4, kBlockBytes / 4, 2000);
    CHECK(scene.fired() == std::vector<std::string>{"page-cache-spill"});
    scene.run.hosts[0].event_counts = {{"memory:node1:numa_miss", 0, 500}, {"memory:node0:local_node", 0, 9000},
                                       {"memory:pgmigrate_success", 0, 7}, {"alignment-faults", 100, 3}};
    const Finding finding = scene.diagnose("page-cache-spill").at(0);
    CHECK(std::get<int64_t>(finding.evidence.at("allocated_elsewhere_page_count")) == 500);
    CHECK(std::get<int64_t>(finding.evidence.at("migrated_page_count")) == 7);
    CHECK(text(finding, "second_witness").starts_with("500 pages allocated on another node than requested"));
    CHECK(finding.subject.kind == "node");
    CHECK(finding.subject.name == "0");
    CHECK(std::get<double>(finding.evidence.at("spilled_fraction")) == Approx(0.75));
    CHECK(std::get<int64_t>(finding.evidence.at("cached_file_bytes")) == 900 * static_cast<int64_t>(kMegabyte));
    CHECK(finding.title.find("main.f90:7") != std::string::npos);
    CHECK(finding.advice[0].command.find("--sweep") != std::string::npos);

    Scene roomy = scene; // the same allocations, without a full node
    for (model::NodeMemory& memory : roomy.run.hosts[0].memory)
        memory.free_bytes = 600 * kMegabyte;
    CHECK(roomy.fired() == std::vector<std::string>{"memory-remote"});
    Scene kept = scene; // a full node, but nothing spilled
    for (model::NodeMemory& memory : kept.run.hosts[0].memory)
        memory.foreign_allocations = 0;
    CHECK(kept.fired() == std::vector<std::string>{"memory-remote"});
}
