// The calibration's arithmetic and what decides on it; the kernel's settings and event descriptions on fake trees.
#include "fake_tree.h"
#include "platform/split_lock_setting.h"
#include "record/calibrate/access_penalties.h"
#include "record/perf/event_counts.h"
#include "synthetic_trace.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <sys/wait.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::record;

namespace {

void write_trace(const FakeTree& tree, const std::string& name, uint32_t flags) {
    trace::SyntheticTrace made(trace::Writer::process, 42);
    trace::AlignSite site{};
    site.id = 1;
    site.flags = flags;
    if (flags)
        made.add(site);
    std::string bytes(reinterpret_cast<const char*>(made.bytes().data()), made.bytes().size());
    const uint64_t chunks = bytes.size() - sizeof(trace::FileHeader);
    bytes.replace(offsetof(trace::FileHeader, next_chunk), sizeof chunks, reinterpret_cast<const char*>(&chunks),
                  sizeof chunks);
    tree.write(name, bytes);
}

} // namespace

TEST_CASE("penalties are measured, those of split locks on request alone") {
    const trace::AccessPenalty penalty = measure_access_penalties(false);
    for (const uint64_t time_ps : {penalty.aligned_load_ps, penalty.unaligned_load_ps, penalty.line_load_ps,
                                   penalty.page_load_ps, penalty.aligned_store_ps, penalty.unaligned_store_ps,
                                   penalty.line_store_ps, penalty.page_store_ps, penalty.locked_ps}) {
        CHECK(time_ps > 0);
        CHECK(time_ps < 1'000'000'000); // a millisecond an access is no access
    }
    CHECK(penalty.sweep_line_load_ps > 0);
    CHECK(penalty.sweep_line_store_ps > 0);
    CHECK(penalty.split_lock_ps == 0);
    CHECK(penalty.loads > 1000);
    CHECK(penalty.split_lock_setting == 0);
    CHECK(penalty.locked_ps > penalty.aligned_load_ps); // on every machine there is
}

TEST_CASE("a run needs calibration when it caught an access") {
    FakeTree tree;
    CHECK_FALSE(calibration_need(tree.root()).unaligned);
    CHECK_FALSE(calibration_need(tree.root() + "/not-there").unaligned);
    write_trace(tree, "process-42-1.plumb", 0);
    tree.write("process-43-1.plumb", "PLUMBTR\n, cut off");
    tree.write("node-host-1.plumb", "");
    CHECK_FALSE(calibration_need(tree.root()).unaligned);
    write_trace(tree, "process-44-1.plumb", trace::kAlignLoad);
    CHECK(calibration_need(tree.root()).unaligned);
    CHECK_FALSE(calibration_need(tree.root()).locked);
    write_trace(tree, "process-45-1.2.plumb", trace::kAlignLoad | trace::kAlignStore | trace::kAlignLocked);
    CHECK(calibration_need(tree.root()).locked);
}

TEST_CASE("what the kernel does about split locks") {
    FakeTree tree;
    CHECK_FALSE(platform::read_split_lock_setting(tree.root()).text.empty());
    CHECK_FALSE(platform::read_split_lock_setting(tree.root()).detects);
    tree.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu split_lock_detector vme\n");
    CHECK_FALSE(platform::read_split_lock_setting(tree.root()).detects);
    tree.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme split_lock_detect bus_lock_detect\n");
    tree.write("proc/cmdline", "quiet\n");
    tree.write("proc/sys/kernel/split_lock_mitigate", "1\n");
    auto setting = platform::read_split_lock_setting(tree.root());
    CHECK(setting.detects);
    CHECK_FALSE(setting.fatal);
    CHECK(setting.text == "split_lock_detect=warn (the default), split_lock_mitigate=1 (slowed down)");
    tree.write("proc/cmdline", "split_lock_detect=warn quiet split_lock_detect=fatal\n");
    setting = platform::read_split_lock_setting(tree.root());
    CHECK(setting.fatal);
    CHECK(setting.text == "split_lock_detect=fatal");
    tree.write("proc/cmdline", "split_lock_detect=off\n");
    setting = platform::read_split_lock_setting(tree.root());
    CHECK_FALSE(setting.detects);
    CHECK(setting.text == "split_lock_detect=off");
}

TEST_CASE("counted events are read from the CPU's own description") {
    FakeTree tree;
    CHECK(unaligned_cpu_events(tree.root()).empty());
    const std::string device = "sys/bus/event_source/devices/armv8_pmuv3_0/";
    tree.write(device + "type", "8\n");
    tree.write(device + "format/event", "config:0-15\n");
    tree.write(device + "events/cpu_cycles", "event=0x0011\n");
    tree.write(device + "events/unaligned_ldst_retired", "event=0x000f\n");
    tree.write(device + "events/unaligned_ldst_retired.unit", "accesses\n");
    const std::string other = "sys/bus/event_source/devices/cpu/";
    tree.write(other + "type", "4\n");
    tree.write(other + "format/event", "config:0-7,32-35\n");
    tree.write(other + "format/umask", "config:8-15\n");
    tree.write(other + "format/edge", "config:18\n");
    tree.write(other + "format/ldlat", "config1:0-15\n");
    tree.write(other + "events/split_loads", "event=0x5d0,umask=0x41,edge,ldlat=3\n");
    tree.write(other + "events/split_stores", "event=0xd0,umask=?\n");    // a parameter nobody gave
    tree.write(other + "events/misaligned_all", "event=0xd0,cmask=0x1\n"); // a field without a format
    tree.write(other + "events/split_locks", "event=0x10000,umask=1\n");   // wider than its format
    const auto events = unaligned_cpu_events(tree.root());
    REQUIRE(events.size() == 2);
    CHECK(events[0].name == "armv8_pmuv3_0/unaligned_ldst_retired/");
    CHECK(events[0].type == 8);
    CHECK(events[0].config == 0xf);
    CHECK(events[1].name == "cpu/split_loads/");
    CHECK(events[1].config == (0xd0u | 0x41u << 8 | 1u << 18 | uint64_t{5} << 32));
    CHECK(events[1].config1 == 3);
}

// The events of this theme do not happen here, so the counting itself is tried with one that does.
TEST_CASE("events are counted over a whole process tree from its exec on") {
    int go[2];
    REQUIRE(pipe(go) == 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        [[maybe_unused]] const auto got = read(go[0], &byte, 1);
        execl("/bin/sh", "sh", "-c", "/bin/true; /bin/true & wait", nullptr);
        _exit(127);
    }
    close(go[0]);
    const EventCounts counts(child, {{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0},
                                     {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 0},
                                     {"none/such/", 0x7fffffff, 0, 0, 0}});
    close(go[1]);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    const auto read = counts.read();
    if (read.empty()) {
        WARN("not tested: perf events are forbidden here");
        return;
    }
    REQUIRE(read.size() == 2);
    CHECK(read[0].name == "page-faults");
    CHECK(read[0].value > 100); // three programs
    CHECK(read[0].value < 100'000);
    CHECK(read[1].value > 0);
    CHECK_FALSE(read[0].estimated);
}
