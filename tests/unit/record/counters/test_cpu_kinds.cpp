// Machines with CPUs of several kinds, by their /sys.
#include "fake_tree.h"
#include "record/counters/cpu_kinds.h"

#include <catch2/catch.hpp>

using namespace plumb::record;

namespace {

void add_device(const FakeTree& tree, const std::string& name, const std::string& file, const std::string& cpus) {
    tree.write("sys/bus/event_source/devices/" + name + "/" + file, cpus + "\n");
}

} // namespace

TEST_CASE("a machine of one kind of CPU") {
    const FakeTree tree;
    CHECK(cpu_kinds(tree.root()).empty());
    add_device(tree, "cpu", "type", "4");
    add_device(tree, "uncore_imc_0", "cpumask", "0,16");
    CHECK(cpu_kinds(tree.root()).empty());
    add_device(tree, "armv8_pmuv3_0", "cpus", "0-3"); // lists its CPUs, and is the only one that does
    CHECK(cpu_kinds(tree.root()).empty());
    CHECK(unlike_cpus({}, {2, 3, 5}) == std::pair(2, 5));
    CHECK(unlike_cpus({}, {4}) == std::pair(4, 4));
}

TEST_CASE("performance and efficiency CPUs") {
    const FakeTree tree;
    add_device(tree, "cpu_core", "cpus", "0-7");
    add_device(tree, "cpu_atom", "cpus", "8-15");
    add_device(tree, "cpu_atom_twin", "cpus", "8-15"); // of the same CPUs
    const auto kinds = cpu_kinds(tree.root());
    REQUIRE(kinds.size() == 2);
    CHECK(unlike_cpus(kinds, {1, 2, 9, 10}) == std::pair(1, 9));
    CHECK(unlike_cpus(kinds, {8, 9, 0}) == std::pair(8, 0));
    CHECK(unlike_cpus(kinds, {9, 10, 12}) == std::pair(9, 12)); // of one kind alone
}

TEST_CASE("what is no list of CPUs is no kind") {
    const FakeTree tree;
    add_device(tree, "cpu_core", "cpus", "0-7");
    add_device(tree, "cpu_atom", "cpus", "eight");
    add_device(tree, "cpu_lowpower", "cpus", "");
    CHECK(cpu_kinds(tree.root()).empty());
}
