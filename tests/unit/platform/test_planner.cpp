// Orders of CPUs on machines nobody here has: hwloc's synthetic topologies, also over an XML round trip.
#include "placement/planner.h"
#include "support/error.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <numeric>
#include <set>

using namespace plumb;
using namespace plumb::placement;
using Cpus = std::vector<int>;

namespace {

// Two packages of two nodes with four cores and two hardware threads each; CPU numbers run depth first: core c has
// the CPUs 2c and 2c+1.
const char* const kSixteenCores = "pack:2 numa:2 l3:1 core:4 pu:2";
const char* const kEightSockets = "pack:8 numa:4 l3:2 core:4 pu:2"; // sub-NUMA clusters, 512 CPUs

Cpus first(int count) {
    Cpus cpus(static_cast<size_t>(count));
    std::iota(cpus.begin(), cpus.end(), 0);
    return cpus;
}

Plan plan(const std::string& machine, const Cpus& allowed, const std::string& wish) {
    return plan_cpus(platform::topology_from_synthetic(machine), allowed, parse_wish(wish));
}

Cpus head(const Plan& plan, size_t count) { return {plan.cpus.begin(), plan.cpus.begin() + static_cast<long>(count)}; }

} // namespace

TEST_CASE("topology: where the CPUs of a synthetic machine sit") {
    const platform::Topology machine = platform::topology_from_synthetic(kSixteenCores);
    REQUIRE(machine.cpus.size() == 32);
    CHECK(machine.package_count == 2);
    CHECK(machine.node_count == 4);
    CHECK(machine.core_count == 16);
    const platform::CpuPlace* place = machine.find(11); // second thread of core 5
    REQUIRE(place);
    CHECK(place->package == 0);
    CHECK(place->node == 1);
    CHECK(place->core == 5);
    CHECK(place->sibling == 1);
    CHECK(machine.find(8)->l3 == machine.find(15)->l3);
    CHECK(machine.find(7)->l3 != machine.find(8)->l3);
    CHECK(machine.find(32) == nullptr);
}

// A node without CPUs has those of its neighbour in hwloc's eyes; the note in it shows which is which.
TEST_CASE("topology: a CPU belongs to the node that has CPUs") {
    const auto machine = [](const char* note) {
        return platform::topology_from_xml(fmt::format(
            R"(<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">)"
            R"(<object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" )"
            R"(nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">)"
            R"(<object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" )"
            R"(complete_nodeset="0x1" gp_index="2" local_memory="4096">{}</object>)"
            R"(<object type="NUMANode" os_index="1" cpuset="0x1" complete_cpuset="0x1" nodeset="0x2" )"
            R"(complete_nodeset="0x2" gp_index="3" local_memory="4096"/>)"
            R"(<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" )"
            R"(complete_nodeset="0x3" gp_index="4"/></object></topology>)", note));
    };
    CHECK(machine("").find(0)->node == 0);
    CHECK(machine(R"(<info name="PlumbMemoryOnly" value="1"/>)").find(0)->node == 1);
}

TEST_CASE("topology: what cannot be read is said") {
    CHECK_THROWS_AS(platform::topology_from_file("/nonexistent.xml"), Error);
    CHECK_THROWS_AS(platform::topology_from_xml("<topology>"), Error);
    CHECK_THROWS_AS(platform::topology_from_synthetic("pack:"), Error);
}

TEST_CASE("compact fills a shared cache, cores first, then their siblings, then the next cache") {
    const Plan compact = plan(kSixteenCores, first(32), "compact");
    CHECK(head(compact, 10) == Cpus{0, 2, 4, 6, 1, 3, 5, 7, 8, 10});
    CHECK(compact.first_pass == 32);
}

TEST_CASE("scatter goes over packages, nodes, cores and takes siblings last") {
    const Plan scatter = plan(kSixteenCores, first(32), "scatter");
    CHECK(head(scatter, 8) == Cpus{0, 16, 8, 24, 2, 18, 10, 26});
    CHECK(std::all_of(scatter.cpus.begin(), scatter.cpus.begin() + 16, [](int cpu) { return cpu % 2 == 0; }));
    CHECK(std::all_of(scatter.cpus.begin() + 16, scatter.cpus.end(), [](int cpu) { return cpu % 2 == 1; }));
}

TEST_CASE("scatter on eight packages with sub-NUMA clusters: one a package, one a node, one a cache, one a core") {
    const platform::Topology machine = platform::topology_from_synthetic(kEightSockets);
    const Plan scatter = plan_cpus(machine, first(512), parse_wish("scatter"));
    const auto distinct = [&](size_t count, int platform::CpuPlace::*what) {
        std::set<int> seen;
        for (size_t i = 0; i < count; ++i)
            seen.insert(machine.find(scatter.cpus[i])->*what);
        return seen.size();
    };
    CHECK(distinct(8, &platform::CpuPlace::package) == 8);
    CHECK(distinct(32, &platform::CpuPlace::node) == 32);
    CHECK(distinct(64, &platform::CpuPlace::l3) == 64);
    CHECK(distinct(256, &platform::CpuPlace::core) == 256);
}

TEST_CASE("every strategy gives each allowed CPU exactly once") {
    // 3 of package 0's cores, one lone sibling, a whole node of package 1, and a CPU hwloc does not know.
    const Cpus allowed{0, 1, 2, 3, 5, 24, 25, 26, 27, 28, 29, 30, 31, 77};
    for (const char* wish : {"compact", "scatter", "spread:1", "spread:3", "spread:100"}) {
        INFO(wish);
        Cpus cpus = plan(kSixteenCores, allowed, wish).cpus;
        std::sort(cpus.begin(), cpus.end());
        CHECK(cpus == allowed);
    }
}

TEST_CASE("asymmetric sets: a core of which only the second thread is allowed is a whole core") {
    CHECK(plan(kSixteenCores, {0, 1, 5, 16}, "scatter").cpus == Cpus{0, 16, 5, 1});
    CHECK(plan(kSixteenCores, {0, 1, 5, 16}, "compact").cpus == Cpus{0, 5, 1, 16});
}

TEST_CASE("spread: relative CPU 3 * (4 r + t), then the gaps before any CPU is shared") {
    Cpus allowed = first(32);
    allowed.erase(allowed.begin(), allowed.begin() + 8); // the job was given CPUs 8 to 31
    const Plan spread = plan(kSixteenCores, allowed, "spread:3");
    CHECK(spread.first_pass == 8);
    CHECK(head(spread, 10) == Cpus{8, 11, 14, 17, 20, 23, 26, 29, 9, 12});
    CHECK(spread.cpus.size() == 24);
}

TEST_CASE("a list names relative CPUs, or absolute ones") {
    const Cpus allowed{4, 6, 8, 10};
    CHECK(plan(kSixteenCores, allowed, "list:3,0-1,0").cpus == Cpus{10, 4, 6, 4});
    CHECK(plan(kSixteenCores, allowed, "2").cpus == Cpus{8});
    Wish absolute = parse_wish("8,4");
    absolute.absolute = true;
    const platform::Topology machine = platform::topology_from_synthetic(kSixteenCores);
    CHECK(plan_cpus(machine, allowed, absolute).cpus == Cpus{8, 4});
    absolute.positions = {5};
    CHECK_THROWS_WITH(plan_cpus(machine, allowed, absolute), Catch::Contains("4,6,8,10"));
    CHECK_THROWS_WITH(plan(kSixteenCores, allowed, "list:4"), Catch::Contains("no relative CPU 4"));
    CHECK_THROWS_AS(plan(kSixteenCores, allowed, "list:"), Error);
    CHECK_THROWS_AS(plan(kSixteenCores, {}, "compact"), Error);
}

TEST_CASE("wishes: what can be written, and back") {
    for (const char* text : {"compact", "scatter", "spread:4", "list:0,2,4-7"})
        CHECK(describe_wish(parse_wish(text)) == text);
    for (const char* text : {"", "tight", "spread", "spread:", "spread:0", "spread:-1", "spread:1,2", "list:x", "-1"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_wish(text), Error);
    }
}

TEST_CASE("machines without cores, caches or packages in hwloc's view still get a plan") {
    CHECK(plan("pu:3", first(3), "scatter").cpus == Cpus{0, 1, 2});
    CHECK(plan("pu:3", first(3), "compact").cpus == Cpus{0, 1, 2});
    CHECK(plan("numa:2 pu:2", first(4), "scatter").cpus == Cpus{0, 2, 1, 3});
}
