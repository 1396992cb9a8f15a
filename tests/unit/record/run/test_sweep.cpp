// The sweeper: it ends by itself whatever the node's files say, within its limits, and tells what it did.
#include "fake_tree.h"
#include "record/run/sweep.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace plumb::record;

namespace {

constexpr uint64_t kMebibyte = 1 << 20;

void write_node(const FakeTree& tree, int node, int total_mebibytes, int free_mebibytes, int file_mebibytes) {
    const std::string folder = fmt::format("devices/system/node/node{}/", node);
    tree.write(folder + "meminfo", fmt::format("Node {0} MemTotal: {1} kB\nNode {0} MemFree: {2} kB\nNode {0} FilePages: {3} kB\n",
                                               node, total_mebibytes * 1024, free_mebibytes * 1024, file_mebibytes * 1024));
}

} // namespace

TEST_CASE("a sweep ends when the cache does not give way, and leaves nodes alone that it may not use") {
    FakeTree tree;
    tree.write("devices/system/node/online", "0-1\n");
    tree.write("self/status", "Name: x\nMems_allowed_list:\t0\n");
    write_node(tree, 0, 4000, 10, 3000); // full, and stays so whatever is touched: patience ends it
    write_node(tree, 1, 4000, 3000, 10);
    const std::vector<SweptNode> swept = sweep_nodes({.most_bytes = UINT64_MAX, .most_seconds = 60}, tree.root(), tree.root());
    REQUIRE(swept.size() == 1);
    CHECK(swept[0].node == 0);
    CHECK(swept[0].file_bytes_before == 3000 * kMebibyte);
    CHECK(swept[0].free_bytes_after == 10 * kMebibyte);
    CHECK(sweep_words(swept) == "node 0: 0 MiB of cached files were dropped, 3000 MiB stayed, 10 MiB are free");
}

TEST_CASE("a sweep keeps its limits on a real machine, and holds nothing afterwards") {
    const std::vector<SweptNode> swept = sweep_nodes({.most_bytes = 32 * kMebibyte, .most_seconds = 5});
    CHECK(!swept.empty());
    CHECK(sweep_words({}).empty());
    CHECK(sweep_words({{0, 812 * kMebibyte, 12 * kMebibyte, 0, 900 * kMebibyte}}) ==
          "node 0: 800 MiB of cached files were dropped, 12 MiB stayed, 900 MiB are free");
}
