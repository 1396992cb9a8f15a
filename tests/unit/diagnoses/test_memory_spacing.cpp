// Threads that need more memory than their node has: who needs how much of which node, how far apart they must be, and
// when there is nothing to say.
#include "diagnoses/memory/spacing.h"
#include "placement/planner.h"
#include "synthetic_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace plumb;
using namespace plumb::testing;

namespace {

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kFill = 0x401000, kUse = 0x402000, kAllocate = 0x403000;
constexpr uint64_t kBlock = 0x7f0000000000;
const char* const kOthers[] = {"memory-hot-node", "serial-first-touch", "memory-left-behind", "memory-remote",
                               "page-cache-spill"};

// Nodes of two CPUs and 1000 MiB each, of which 100 are the kernel's.
struct Scene : SyntheticRun {
    explicit Scene(int nodes = 2, int cpus_each = 2) : SyntheticRun(10, nodes * cpus_each) {
        run.processes.clear();
        for (int node = 0; node < nodes; ++node) {
            model::NumaNode one{.node = node, .total_bytes = 1000 * kMegabyte, .cpus = {}, .distances = {}};
            for (int cpu = 0; cpu < cpus_each; ++cpu)
                one.cpus.push_back(node * cpus_each + cpu);
            for (int other = 0; other < nodes; ++other)
                one.distances.push_back(other == node ? 10 : 20);
            run.hosts[0].nodes.push_back(one);
            look(node, 0, 900, 0, 0);
            look(node, 10, 890, 1'000'000, 0);
        }
        name(kFill, "fill", "app", "init.c", 12);
        name(kUse, "sweep", "app", "solve.c", 40);
        name(kAllocate, "main", "app", "main.c", 7);
    }
    // What the node had free at a moment, in MiB, and pages of numastat: found there, and driven away.
    void look(int node, double at, uint64_t free, uint64_t local, uint64_t foreign, uint64_t cached = 0) {
        model::NodeMemory memory;
        memory.node = node;
        memory.time_ns = run.begin_ns + ns(at);
        memory.total_bytes = 1000 * kMegabyte;
        memory.free_bytes = free * kMegabyte;
        memory.file_bytes = memory.reclaimable_bytes = cached * kMegabyte;
        memory.local_allocations = local;
        memory.foreign_allocations = foreign;
        run.hosts[0].memory.push_back(memory);
    }
    void driven_away(int node, uint64_t megabytes) { look(node, 10, 20, 1'000'000, megabytes * kMegabyte / 4096); }

    // A process with threads on these nodes (by their first CPU), each of which touches and uses `need` MiB, of which
    // `away` MiB are on the node behind its own.
    model::Process& add_needy(const std::vector<int>& cpus, uint64_t need, uint64_t away, int rank = -1) {
        model::Process& process = add_process("needy");
        process.has_shim = true;
        process.rank = rank;
        process.memory.footprint.own_bytes = need * cpus.size() * kMegabyte;
        process.memory.footprint.policy = "default";
        const uint32_t path = add_path({kUse});
        model::LargeBlock block;
        block.path = add_path({kAllocate}, false);
        block.start = kBlock;
        block.bytes = need * cpus.size() * kMegabyte;
        block.from_ns = run.begin_ns;
        process.memory.blocks.push_back(block);
        for (size_t thread = 0; thread < cpus.size(); ++thread) {
            add_thread(cpus[thread], 1, 0);
            add_samples(static_cast<uint32_t>(thread), path, 10'000);
            const int node = node_of(cpus[thread]), other = (node + 1) % static_cast<int>(run.hosts[0].nodes.size());
            const uint64_t start = kBlock + thread * need * kMegabyte;
            use(process, thread, node, node, start, need - away, need);
            use(process, thread, node, other, start + (need - away) * kMegabyte, away, need);
        }
        return process;
    }
    int node_of(int cpu) const {
        for (const model::NumaNode& node : run.hosts[0].nodes)
            if (std::ranges::find(node.cpus, cpu) != node.cpus.end())
                return node.node;
        return -1;
    }
    std::vector<std::string> others() {
        std::vector<std::string> ids;
        for (const char* id : kOthers)
            for (const Finding& finding : diagnose(id))
                ids.push_back(finding.id);
        return ids;
    }
    // The only finding, which nothing else speaks of.
    Finding only() {
        const std::vector<Finding> findings = diagnose("memory-spacing");
        REQUIRE(findings.size() == 1);
        CHECK(others().empty());
        return findings[0];
    }

  private:
    void use(model::Process& process, size_t thread, int cpu_node, int page_node, uint64_t start, uint64_t megabytes,
             uint64_t need) {
        if (megabytes == 0)
            return;
        model::FirstTouch touch;
        touch.thread = static_cast<uint32_t>(thread);
        touch.instruction = kFill;
        touch.cpu_node = cpu_node;
        touch.page_node = page_node;
        touch.samples = touch.faults = megabytes;
        touch.lowest_address = start;
        touch.highest_address = start + megabytes * kMegabyte - 4096;
        touch.first_ns = touch.last_ns = run.begin_ns + ns(0.5);
        process.memory.touches.push_back(touch);
        model::MemoryTraffic traffic;
        traffic.thread = static_cast<uint32_t>(thread);
        traffic.instruction = kUse;
        traffic.kind = {.width = 8, .load = true, .store = false};
        traffic.cpu_node = cpu_node;
        traffic.page_node = page_node;
        traffic.samples = 5000 * megabytes / need;
        traffic.time_ns = traffic.samples * 1'000'000;
        traffic.lowest_address = start;
        traffic.highest_address = traffic.last_address = start + megabytes * kMegabyte - 8;
        traffic.first_ns = run.begin_ns + ns(1);
        traffic.last_ns = run.begin_ns + ns(10);
        process.memory.traffic.push_back(traffic);
    }
};

int64_t number(const Finding& finding, const char* key) {
    REQUIRE(finding.evidence.contains(key));
    return std::get<int64_t>(finding.evidence.at(key));
}

std::map<int, SpacingNode> even_nodes(int count, uint64_t room, int cpus) {
    std::map<int, SpacingNode> nodes;
    for (int node = 0; node < count; ++node)
        nodes[node] = {room, cpus};
    return nodes;
}

// CPUs node by node.
std::vector<int> in_rows(int nodes, int cpus) {
    std::vector<int> rows;
    for (int cpu = 0; cpu < nodes * cpus; ++cpu)
        rows.push_back(cpu / cpus);
    return rows;
}

} // namespace

TEST_CASE("two processes on one node that has memory for one and a half") {
    Scene scene;
    scene.add_needy({0}, 600, 160);
    scene.add_needy({1}, 600, 150);
    scene.driven_away(0, 310);
    scene.finish();
    const Finding finding = scene.only();
    CHECK(finding.title == "2 processes on node 0 need 1200 MiB of memory, and the node has 900 MiB for them: the rest "
                           "went to other nodes");
    CHECK(finding.subject.kind == "node");
    CHECK(finding.subject.name == "0");
    REQUIRE(!finding.where.empty());
    CHECK(finding.where[0].line == 40);
    CHECK(number(finding, "needed_bytes") == Approx(1200.0 * kMegabyte));
    CHECK(number(finding, "room_bytes") == 900 * static_cast<int64_t>(kMegabyte));
    CHECK(number(finding, "spilled_bytes") == 310 * static_cast<int64_t>(kMegabyte));
    CHECK(number(finding, "spacing_cpu_count") == 2);
    CHECK(number(finding, "spanned_cpu_count") == 3);
    CHECK(number(finding, "allowed_cpu_count") == 4);
    REQUIRE(finding.advice.size() == 1);
    CHECK(finding.advice[0].command == "plumb run --pin=spread:2 --bind-memory -- ./app 'big file'");
    CHECK(finding.cost.how == "estimated");
    // 5 s of each process are accesses, 26 % of them remote and twice as far.
    CHECK(finding.cost.fraction == Approx(0.5 * 310 / 1200 / 2).epsilon(0.01));
    Scene untold = scene;
    for (model::NumaNode& node : untold.run.hosts[0].nodes)
        node.distances.clear();
    CHECK(untold.only().cost.how == "bound");
}

TEST_CASE("a process that a shell's child became is one thread, whichever of the two its page faults are recorded for") {
    Scene scene;
    for (const int cpu : {0, 1}) {
        model::Process& process = scene.add_needy({cpu}, 600, 160);
        process.threads.push_back(process.threads[0]); // what the child was before it executed the program
        model::FirstTouch early = process.memory.touches[0];
        early.samples = early.faults = process.memory.touches[0].faults / 5;
        process.memory.touches[0].faults -= early.faults;
        early.thread = 1;
        process.memory.touches.push_back(early);
    }
    scene.driven_away(0, 310);
    scene.finish();
    const Finding finding = scene.only();
    CHECK(number(finding, "needed_bytes") == Approx(1200.0 * kMegabyte));
    CHECK(number(finding, "spacing_cpu_count") == 2);
    CHECK(finding.advice[0].command == "plumb run --pin=spread:2 --bind-memory -- ./app 'big file'");
}

TEST_CASE("memory that ranks share is counted once") {
    Scene scene;
    for (const int cpu : {0, 1}) {
        model::Process& process = scene.add_needy({cpu}, 300, 50);
        process.memory.footprint.shared_bytes = 500 * kMegabyte; // both map the same window
        model::MemoryArea area;
        area.start = 0x7e0000000000;
        area.end = area.start + 500 * kMegabyte;
        area.shared = area.file = area.writable = true;
        area.path = "/dev/shm/window";
        process.memory.areas.push_back(area);
        model::FirstTouch touch;
        touch.area = 0;
        touch.instruction = kFill;
        touch.cpu_node = touch.page_node = 0;
        touch.samples = touch.faults = 500;
        touch.lowest_address = area.start;
        touch.highest_address = area.end - 4096;
        process.memory.touches.push_back(touch);
    }
    scene.driven_away(0, 300);
    scene.finish();
    const Finding finding = scene.only();
    CHECK(number(finding, "needed_bytes") == Approx(1100.0 * kMegabyte));
    CHECK(number(finding, "shared_bytes") == 500 * static_cast<int64_t>(kMegabyte));
    Scene little = scene; // with room for it once, not twice
    for (model::Process& process : little.run.processes)
        process.memory.footprint.shared_bytes = 200 * kMegabyte;
    CHECK(little.diagnose("memory-spacing").empty());
}

TEST_CASE("spacing is silent where there is room, and where something else is the cause") {
    Scene apart; // as the advice places them
    apart.add_needy({0}, 600, 0);
    apart.add_needy({2}, 600, 0);
    apart.finish();
    CHECK(apart.diagnose("memory-spacing").empty());
    CHECK(apart.others().empty());

    Scene small; // remote for another reason, with room on the node
    small.add_needy({0}, 300, 100);
    small.add_needy({1}, 300, 100);
    small.driven_away(0, 320);
    small.finish();
    CHECK(small.diagnose("memory-spacing").empty());
    CHECK(small.others() == std::vector<std::string>{"memory-remote"});

    Scene kept; // more than there is, but the kernel drove nothing away: it was swapped, or freed in between
    kept.add_needy({0}, 600, 160);
    kept.add_needy({1}, 600, 150);
    kept.finish();
    CHECK(kept.diagnose("memory-spacing").empty());

    Scene cached; // what is cached gives way: it would fit
    cached.add_needy({0}, 300, 150);
    cached.add_needy({1}, 300, 150);
    cached.look(0, 5, 20, 500'000, 0, 600);
    cached.driven_away(0, 300);
    cached.finish();
    CHECK(cached.diagnose("memory-spacing").empty());
    CHECK(cached.others() == std::vector<std::string>{"page-cache-spill"});

    Scene both; // cached files as well, but it would not fit without them: one finding
    both.add_needy({0}, 600, 300);
    both.add_needy({1}, 600, 300);
    both.look(0, 5, 20, 500'000, 0, 600);
    both.driven_away(0, 600);
    both.finish();
    both.only();

    Scene interleaved;
    for (const int cpu : {0, 1}) {
        interleaved.add_needy({cpu}, 600, 300).memory.footprint.policy = "interleave:0-1";
        interleaved.driven_away(0, 320);
    }
    interleaved.finish();
    CHECK(interleaved.diagnose("memory-spacing").empty());

    Scene in_turn; // one after the other
    in_turn.add_needy({0}, 600, 160).end_ns = in_turn.run.begin_ns + SyntheticRun::ns(5);
    in_turn.add_needy({1}, 600, 150).start_ns = in_turn.run.begin_ns + SyntheticRun::ns(5);
    in_turn.driven_away(0, 310);
    in_turn.finish();
    CHECK(in_turn.diagnose("memory-spacing").empty());

    Scene one_node(1, 4);
    one_node.add_needy({0}, 600, 0);
    one_node.driven_away(0, 310);
    one_node.finish();
    CHECK(one_node.diagnose("memory-spacing").empty());

    Scene unknown; // an old record, without footprints
    unknown.add_needy({0}, 600, 160).memory.footprint = {};
    unknown.add_needy({1}, 600, 150).memory.footprint = {};
    unknown.driven_away(0, 310);
    unknown.finish();
    CHECK(unknown.diagnose("memory-spacing").empty());
}

TEST_CASE("ranks with threads: thread t of rank r, and what the launchers call it") {
    Scene scene(8); // 16 CPUs
    for (int rank = 1; rank >= 0; --rank) // started in another order
        scene.add_needy({2 * rank, 2 * rank + 1}, 600, 160, rank);
    scene.driven_away(0, 310);
    scene.driven_away(1, 310);
    scene.finish();
    const Finding finding = scene.only();
    CHECK(number(finding, "spacing_cpu_count") == 2);
    CHECK(finding.advice[0].what == "Place the threads 2 CPUs apart");
    CHECK(finding.advice[0].how.find("thread t of rank r on relative CPU 2*(2r+t)") != std::string::npos);
    CHECK(finding.advice[0].command ==
          "plumb run --pin=spread:2 --bind-memory --threads-per-process=2 -- ./app 'big file'");
    REQUIRE(finding.advice.size() == 2);
    CHECK(finding.advice[1].what == "Or let the launcher give each rank 4 CPUs");
    CHECK(finding.advice[1].how.find("PE=4") != std::string::npos);
    CHECK(std::get<std::vector<std::string>>(finding.evidence.at("needs")).at(0).starts_with("rank 0, thread "));
}

TEST_CASE("threads of one process, by who touched how much") {
    Scene scene;
    scene.add_needy({0, 1}, 600, 160);
    scene.driven_away(0, 320);
    scene.finish();
    const Finding finding = scene.only();
    CHECK(finding.title.starts_with("2 threads on node 0"));
    CHECK(finding.advice[0].command == "plumb run --pin=spread:2 --bind-memory -- ./app 'big file'");
    Scene without_faults = scene; // then by who worked there
    without_faults.run.processes[0].memory.touches.clear();
    const Finding guessed = without_faults.only();
    CHECK(number(guessed, "spacing_cpu_count") == 2);
    CHECK(guessed.confidence < finding.confidence);
}

TEST_CASE("a cpuset that is too small for the spacing") {
    Scene scene(4);
    scene.run.hosts[0].allowed_cpus = {0, 1};
    scene.add_needy({0}, 600, 160);
    scene.add_needy({1}, 600, 150);
    scene.driven_away(0, 310);
    scene.finish();
    const Finding finding = scene.only();
    CHECK_FALSE(finding.evidence.contains("spacing_cpu_count"));
    CHECK(number(finding, "needed_cpu_count") == 4); // two nodes
    CHECK(finding.advice[0].command.empty());
    CHECK(finding.advice[0].how.find("may use 2 of this machine's 8") != std::string::npos);
}

TEST_CASE("processes that something else confines are reported as such") {
    Scene scene;
    for (const int cpu : {0, 1})
        scene.add_needy({cpu}, 600, 155).threads[0].allowed_cpus = {cpu};
    scene.driven_away(0, 310);
    scene.finish();
    const Finding finding = scene.only();
    REQUIRE(finding.advice.size() == 2);
    CHECK(finding.advice[1].what == "Remove what binds them to their CPUs now");
}

TEST_CASE("spacing: the smallest distance at which every node's memory suffices") {
    const auto distance = [](std::vector<uint64_t> needs, const std::vector<int>& cpus, uint64_t room, int each) {
        return spacing_for(needs, cpus, even_nodes(8, room, each));
    };
    CHECK(distance({100, 100}, in_rows(2, 2), 200, 2).cpus == 1); // exactly full
    CHECK(distance({100, 101}, in_rows(2, 2), 200, 2).cpus == 2);
    CHECK(distance({50, 50, 50, 50}, in_rows(4, 4), 100, 4).cpus == 2); // two on a node
    CHECK(distance({50, 50, 50, 50}, in_rows(4, 4), 99, 4).cpus == 4);
    CHECK(distance({60, 60}, {0, 1, 0, 1}, 100, 2).cpus == 1); // CPUs numbered across the nodes
    CHECK(distance({}, in_rows(2, 2), 100, 2).cpus == 0);
    CHECK(distance({60, 60}, {-1, -1, 0}, 100, 2).cpus == 0); // CPUs of no known node

    const Spacing full = distance({60, 60, 60}, in_rows(2, 2), 100, 2);
    CHECK(full.cpus == 0);
    CHECK(full.list.empty());
    CHECK(full.cpus_needed == 6); // three nodes

    // 3.3 CPUs' memory a thread, where nodes have two CPUs: neighbours lend the rest.
    const Spacing wide = distance({330, 330, 330, 330}, in_rows(8, 2), 200, 2);
    CHECK(wide.larger_than_node);
    CHECK(wide.cpus == 4);
    CHECK(wide.span == 13);
    CHECK(distance({330, 330, 330, 330, 330}, in_rows(8, 2), 200, 2).cpus_needed == 17);

    // No one distance, but a choice: the second node is small.
    const Spacing chosen = spacing_for({90, 90, 20}, in_rows(3, 2), {{0, {100, 2}}, {1, {30, 2}}, {2, {100, 2}}});
    CHECK(chosen.cpus == 0);
    CHECK(chosen.list == std::vector<int>{0, 4, 2});
}

TEST_CASE("spacing: thread i is taken for where plumb pin places it") {
    for (const int step : {1, 2, 3}) {
        const std::vector<int> allowed = {0, 1, 2, 3, 8, 9, 10, 11};
        const placement::Plan plan =
            placement::plan_cpus(platform::topology_from_synthetic("numa:2 core:4 pu:2"), allowed,
                                 placement::parse_wish(fmt::format("spread:{}", step)));
        for (size_t i = 0; i < plan.first_pass; ++i)
            CHECK(plan.cpus[i] == allowed[i * static_cast<size_t>(step)]);
    }
}
