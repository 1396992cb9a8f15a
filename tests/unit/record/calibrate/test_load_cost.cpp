// What loading the shim costs is measured once for each shim, and leaves nothing behind.
#include "fake_tree.h"
#include "record/calibrate/load_cost.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <sys/stat.h>

using namespace plumb;
using namespace plumb::record;

TEST_CASE("the cost of loading a shim is found in what an earlier run kept, for that very file") {
    FakeTree tree;
    chmod(tree.root().c_str(), 0700);
    tree.write("libplumb.so", "a shim");
    const std::string shim = tree.root() + "/libplumb.so", folder = tree.root() + "/load-cost";
    struct stat status{};
    REQUIRE(stat(shim.c_str(), &status) == 0);
    platform::MachineCache cache(tree.root(), "here", "boot 1");
    cache.keep("load-cost " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + " " + shim, "4711");
    Calibration calibration(std::move(cache));
    CHECK(load_cost_ns(calibration, shim, folder) == 4711);
    CHECK(load_cost_ns(calibration, "", folder) == 0);
    CHECK(load_cost_ns(calibration, tree.root() + "/missing.so", folder) == 0);
    CHECK_FALSE(std::filesystem::exists(folder));
}
