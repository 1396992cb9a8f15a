// Lines of kernels' logs as dmesg, journalctl and syslog have them.
#include "kernel_log/gathered.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace plumb::kernel_log;

namespace {

Message of(const std::string& line) {
    INFO(line);
    const auto message = read_message(line);
    REQUIRE(message);
    return *message;
}

} // namespace

TEST_CASE("accesses that are not aligned, of each processor's kernel") {
    const Message ia64 = of("pair.exe(4711): unaligned access to 0x6000000000012345, ip=0x4000000000000a11");
    CHECK(ia64.kind == Kind::unaligned);
    CHECK(ia64.program == "pair.exe");
    CHECK(ia64.pid == 4711);
    CHECK(ia64.address == 0x6000000000012345);
    CHECK(ia64.instruction == 0x4000000000000a11);
    const Message parisc = of("[   12.345678] a(b) c(7): unaligned access to 0x40001235 at ip 0x10a44 (iir 0x0c801090)");
    CHECK(parisc.program == "a(b) c");
    CHECK(parisc.when == "12.345678");
    CHECK(parisc.instruction == 0x10a44);
    const Message alpha = of("Nov 26 09:00:00 node7 kernel: sim(12): unaligned trap at 000000012000abcd: 000000011ffff3a1 29 1");
    CHECK(alpha.program == "sim");
    CHECK(alpha.when == "Nov 26 09:00:00");
    CHECK(alpha.instruction == 0x12000abcd);
    CHECK(alpha.address == 0x11ffff3a1);
    const Message arm = of("Alignment trap: decode (99) PC=0x00010468 Instr=0xe5932000 Address=0xbe9d3a41 FSR 0x801");
    CHECK(arm.program == "decode");
    CHECK(arm.instruction == 0x10468);
    CHECK(arm.address == 0xbe9d3a41);
    const Message sh = of("Fixing up unaligned userspace access in \"play er\" pid=5 pc=0x00400528 ins=0x6122");
    CHECK(sh.program == "play er");
    CHECK(sh.instruction == 0x400528);
    const Message sparc = of("[75.682695] Kernel unaligned access at TPC[8db2a8] some_function+0x6e8/0x720");
    CHECK(sparc.program == "kernel");
    CHECK(sparc.detail == "some_function+0x6e8/0x720");
    CHECK(of("kernel unaligned access to 0xe000000001234567, ip=0xa000000100012340").program == "kernel");
}

TEST_CASE("locks of x86 across cache lines, also of threads with strange names") {
    const Message old = of("<4>[ 3.5] x86/split lock detection: #AC: sl_test/4354 took a split_lock trap at address: 0x401231");
    CHECK(old.kind == Kind::split_lock);
    CHECK(old.program == "sl_test");
    CHECK(old.pid == 4354);
    CHECK(old.instruction == 0x401231);
    CHECK(old.when == "3.5");
    const Message newer = of("x86/split lock detection: #AC: CPU 0/KVM/88279 (guest) took a split_lock trap at address: 0xfffff80104613be8");
    CHECK(newer.program == "CPU 0/KVM");
    CHECK(newer.pid == 88279);
    CHECK(of("x86/split lock detection: #DB: a/5 took a bus_lock trap at address: 0x4011f5").kind == Kind::bus_lock);
}

TEST_CASE("exceptions name the file and the place in it where the kernel does") {
    const Message fault = of("[Thu Nov 26 09:00:00 2026] app[77]: segfault at 10 ip 00007f0000001234 sp 00007ffc00000000 error 4 in "
                             "libx.so.1[7f0000001000+26000]");
    CHECK(fault.kind == Kind::segfault);
    CHECK(fault.when == "Thu Nov 26 09:00:00 2026");
    CHECK(fault.address == 0x10);
    CHECK(fault.instruction == 0x7f0000001234);
    CHECK(fault.module == "libx.so.1");
    CHECK(fault.module_start == 0x7f0000001000);
    CHECK_FALSE(fault.file_offset);
    const Message newer = of("app[77]: segfault at 0 ip 000055d0c0001139 sp 00007ffc00000000 error 6 in app[1139,55d0c0001000+1000] likely on CPU "
                             "1 (core 1, socket 0)");
    CHECK(newer.file_offset == 0x1139);
    CHECK(newer.module_start == 0x55d0c0001000);
    const Message trap = of("traps: app[77] trap invalid opcode ip:401136 sp:7ffd00000000 error:0 in app[401000+1000]");
    CHECK(trap.kind == Kind::trap);
    CHECK(trap.detail == "invalid opcode");
    CHECK(trap.instruction == 0x401136);
    CHECK(of("traps: my app[3] general protection fault ip:1 sp:2 error:0").detail == "general protection fault");
}

TEST_CASE("memory, hardware, and what the kernel did not write") {
    const Message killed = of("Memory cgroup out of memory: Killed process 31 (a (b)) total-vm:2048kB, anon-rss:1024kB, file-rss:0kB");
    CHECK(killed.kind == Kind::killed);
    CHECK(killed.program == "a (b)");
    CHECK(killed.bytes == 1u << 20);
    CHECK(killed.detail == "limit of its control group");
    CHECK(of("[ 1.0] mce: [Hardware Error]: Machine check events logged").kind == Kind::machine_check);
    const Message hot = of("mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 22)");
    CHECK(hot.kind == Kind::throttled);
    CHECK(hot.detail == "CPU3: Core");
    const Message suppressed = of("[ 9.1] handle_user_split_lock: 231 callbacks suppressed");
    CHECK(suppressed.kind == Kind::suppressed);
    CHECK(suppressed.detail == "handle_user_split_lock");
    CHECK(suppressed.count == 231);
}

TEST_CASE("lines of anything else, cut and broken ones, say nothing") {
    for (const char* line : {"", "[", "[ 1.0]", "[ 1.0] usb 1-1: new device", "app(x): unaligned access to 0x1, ip=0x2", "unaligned access to 0x1",
                             ": unaligned trap at 1: 2", "Alignment trap: a PC=0x1", "#AC:  took a split_lock trap at address: 0x1", "[]: segfault at 1",
                             "traps: [1] trap", "Killed process 5 (", "a: x callbacks suppressed", "Fixing up unaligned userspace access in \""})
        CHECK_FALSE(read_message(line));
    CHECK(of("a(1): unaligned access to 0xzz, ip=").instruction == 0);
}

TEST_CASE("messages of one instruction are one group, with the step of its addresses") {
    Gathered gathered;
    for (int i = 0; i < 40; ++i)
        gathered.add(of(fmt::format("[{}.0] walk({}): unaligned access to 0x{:x}, ip=0x4000000000000a11", i, 7 + i % 2, 0x6000000000012341 + i / 2 * 8)));
    gathered.add(of("[99.0] walk(7): unaligned access to 0x6000000000000001, ip=0x4000000000000b00"));
    gathered.add(of("x: 5 callbacks suppressed"));
    gathered.add(of("x: 6 callbacks suppressed"));
    const std::vector<Group> groups = gathered.groups();
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].count == 40);
    CHECK(groups[0].pids.size() == 2);
    CHECK(groups[0].step_bytes() == 8);
    CHECK(groups[0].first.when == "0.0");
    CHECK(groups[0].last_when == "39.0");
    CHECK(groups[1].step_bytes() == 0);
    CHECK(gathered.messages() == 41);
    CHECK(gathered.suppressed().at("x") == 11);
}

TEST_CASE("one library in many processes is one place, and more places than are kept are counted") {
    Gathered gathered;
    for (uint64_t process = 0; process < 100; ++process)
        gathered.add(of(fmt::format("a[{}]: segfault at 0 ip {:016x} sp 0 error 4 in libx.so[{:x}+1000]", process + 1, 0x7f0000001234 + process * 0x10000,
                                    0x7f0000001000 + process * 0x10000)));
    REQUIRE(gathered.groups().size() == 1);
    CHECK(gathered.groups()[0].has_more_pids);
    for (size_t i = 0; i < 2 * Gathered::kMostGroups; ++i)
        gathered.add(of(fmt::format("a(1): unaligned access to 0x1, ip=0x{:x}", i + 1)));
    CHECK(gathered.groups().size() == Gathered::kMostGroups);
    CHECK(gathered.left_out() == Gathered::kMostGroups + 1);
}
