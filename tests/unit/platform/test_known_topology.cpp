// The topology is asked for once under the same conditions.
#include "fake_tree.h"
#include "record/calibrate/known_topology.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sys/stat.h>

using namespace plumb;
using platform::MachineCache;

TEST_CASE("a topology that is known is not asked for again") {
    FakeTree folder;
    chmod(folder.root().c_str(), 0700);
    int asked = 0;
    const auto ask = [&] {
        ++asked;
        return "<topology " + std::to_string(asked) + "/>";
    };
    const auto run = [&](const std::string& conditions, const std::string& boot = "boot 1") {
        MachineCache cache(folder.root(), "here", boot);
        const std::string xml = record::known_topology_xml(cache, conditions, ask);
        cache.save();
        return xml;
    };
    CHECK(run("cpus 0-1") == "<topology 1/>");
    CHECK(run("cpus 0-1") == "<topology 1/>");
    CHECK(run("cpus 0") == "<topology 2/>"); // others than those that were kept
    CHECK(run("cpus 0-1") == "<topology 3/>");
    CHECK(run("cpus 0-1", "boot 2") == "<topology 4/>");
    CHECK(run("") == "<topology 5/>"); // it must be asked for
    CHECK(run("") == "<topology 6/>");
    CHECK(asked == 6);
}

TEST_CASE("a topology that is not known is not kept") {
    FakeTree folder;
    chmod(folder.root().c_str(), 0700);
    MachineCache cache(folder.root(), "here", "boot 1");
    CHECK(record::known_topology_xml(cache, "cpus 0", [] { return std::string(); }).empty());
    CHECK(record::known_topology_xml(cache, "cpus 0", [] { return std::string("<topology/>"); }) == "<topology/>");
}

TEST_CASE("what the topology depends on") {
    FakeTree tree;
    tree.write("sys/devices/system/cpu/online", "0-3\n");
    tree.write("proc/self/cgroup", "0::/a\n");
    const std::string before = record::topology_conditions(tree.root(), "0-3");
    CHECK(before == record::topology_conditions(tree.root(), "0-3"));
    CHECK(before != record::topology_conditions(tree.root(), "0-1"));
    tree.write("sys/devices/system/cpu/online", "0-2\n");
    CHECK(before != record::topology_conditions(tree.root(), "0-3"));
    tree.write("sys/devices/system/cpu/online", "0-3\n");
    tree.write("proc/self/cgroup", "0::/b\n");
    CHECK(before != record::topology_conditions(tree.root(), "0-3"));
    setenv("HWLOC_SYNTHETIC", "core:4", 1);
    CHECK(record::topology_conditions(tree.root(), "0-3").empty());
    unsetenv("HWLOC_SYNTHETIC");
}
