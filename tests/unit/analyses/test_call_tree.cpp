// The call tree of made-up runs: its boxes are the times of the account.
#include "analysis/call_tree.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kLoop = 0x400200, kSave = 0x400300, kFsync = 0x7f0000001000;

SyntheticRun program(double seconds) {
    SyntheticRun made(seconds, 4);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kLoop, "loop", "app", "/src/app.c", 20);
    made.name(kSave, "save", "app", "/src/app.c", 30);
    made.name(kFsync, "fsync+0x14", "libc.so.6");
    return made;
}

CallTreeNode tree_of(SyntheticRun& made, size_t most = 1000) {
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    return call_tree_of(paths, time_account(paths), most);
}

const CallTreeNode* child_of(const CallTreeNode& node, const std::string& name) {
    for (const CallTreeNode& child : node.children)
        if (child.name == name)
            return &child;
    return nullptr;
}

} // namespace

TEST_CASE("time on the CPU and off it stands below the functions that it was spent in") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.3, 0.1); // 3 s on a CPU, 1 s without one, 6 s blocked
    made.add_samples(0, made.add_path({kMain, kLoop}), 100);
    made.add_samples(0, made.add_path({kMain, kSave, kSave, kLoop}), 50);
    model::BlockedSite site;
    site.path = made.add_path({kMain, kSave, kFsync});
    site.system_call = SYS_fsync;
    site.descriptor = "/data/out";
    site.looks = 10;
    site.time_ns = SyntheticRun::ns(2); // all that looks saw stands for 6 s
    made.run.processes.back().blocked.push_back(site);

    const CallTreeNode tree = tree_of(made);
    CHECK(tree.seconds == Approx(9)); // the second without a CPU has no call path
    REQUIRE(tree.children.size() == 1);
    const CallTreeNode& main = tree.children[0];
    CHECK(main.name == "main");
    CHECK(main.seconds == Approx(9));
    CHECK(main.kind == TimeClass::blocked);
    REQUIRE(main.children.size() == 2);
    const CallTreeNode* save = child_of(main, "save");
    const CallTreeNode* loop = child_of(main, "loop");
    REQUIRE((save && loop));
    CHECK(&main.children[0] == save); // the heavier one first
    CHECK(loop->seconds == Approx(2));
    CHECK(loop->kind == TimeClass::computing);
    CHECK(save->seconds == Approx(7)); // recursion is one box
    REQUIRE(child_of(*save, "loop"));
    CHECK(child_of(*save, "loop")->seconds == Approx(1));
    const CallTreeNode* fsync = child_of(*save, "fsync");
    REQUIRE(fsync);
    REQUIRE(fsync->children.size() == 1);
    CHECK(fsync->children[0].name == "syncing files to disk");
    CHECK(fsync->children[0].seconds == Approx(6));

    CHECK(tree_of(made, 3).children[0].children.size() < 2); // the smallest go first
}

TEST_CASE("several processes stand below their programs' names, ranks of one program together") {
    SyntheticRun made = program(4);
    made.add_thread(0, 1, 0);
    made.add_samples(0, made.add_path({kMain, kLoop}), 10);
    for (const char* name : {"app", "other"}) {
        made.add_process(name);
        made.add_thread(1, 0.5, 0);
        made.add_samples(0, made.add_path({kMain, kLoop}), 10);
    }
    const CallTreeNode tree = tree_of(made);
    REQUIRE(tree.children.size() == 2);
    CHECK(tree.children[0].name == "app");
    CHECK(tree.children[0].seconds == Approx(6));
    CHECK(tree.children[1].name == "other");
    CHECK(tree.children[1].seconds == Approx(2));
}
