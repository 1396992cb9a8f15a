#include "analyses/memory/small_blocks.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::testing;

namespace {

constexpr uint64_t kTree = 0x401000, kQueue = 0x402000, kLabels = 0x403000, kMatrix = 0x404000;

model::HeapSite site(uint32_t path, uint64_t allocations, uint64_t bytes_each, uint64_t live_bytes, uint64_t samples) {
    model::HeapSite made;
    made.path = path;
    made.allocations = allocations;
    made.allocated_bytes = allocations * bytes_each;
    made.peak_live_bytes = live_bytes;
    made.samples = samples;
    return made;
}

} // namespace

TEST_CASE("small blocks are divided by the bytes that lived of each line") {
    SyntheticRun made(10, 2);
    made.name(kTree, "insert", "app", "tree.cpp", 12);
    made.name(kQueue, "push", "app", "queue.cpp", 34);
    made.name(kLabels, "label", "app", "labels.cpp", 56);
    made.name(kMatrix, "main", "app", "main.cpp", 7);
    auto& sites = made.run.processes[0].heap.sites;
    sites = {site(made.add_path({kTree}), 1'000'000, 64, 60 << 20, 400), site(made.add_path({kQueue}), 90'000'000, 64, 30 << 20, 9000),
             site(made.add_path({kLabels}), 1000, 100, 10 << 20, 20), site(made.add_path({kMatrix}), 4, 64 << 20, 256 << 20, 4)};
    model::CallPaths paths(made.run, made.resolver);
    const std::vector<SmallBlockSite> found = small_block_sites(paths, 0);
    REQUIRE(found.size() == 2); // the labels are few, and the matrix's blocks are known one by one
    CHECK(found[0].place == "tree.cpp:12");
    CHECK(found[0].share == Approx(0.6));
    CHECK(found[1].place == "queue.cpp:34");
    CHECK(found[1].share == Approx(0.3));

    for (model::HeapSite& each : sites)
        each.samples = 3; // too few to tell
    CHECK(small_block_sites(paths, 0).empty());
}
