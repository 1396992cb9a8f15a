// The parsers of /proc and /sys, on texts of machines nobody here has.
#include "fake_tree.h"
#include "platform/cpu_list.h"
#include "platform/cpu_priority.h"
#include "platform/elf_image.h"
#include "platform/io_counts.h"
#include "platform/maps.h"
#include "platform/memory_counters.h"
#include "platform/node_stat.h"
#include "platform/read_file.h"
#include "platform/task_stat.h"

#include <catch2/catch.hpp>
#include <elf.h>

using namespace plumb::platform;

TEST_CASE("CPU lists") {
    CHECK(parse_cpu_list("0-3,8,10-11\n") == std::vector<int>{0, 1, 2, 3, 8, 10, 11});
    CHECK(parse_cpu_list("5,1,1-2") == std::vector<int>{1, 2, 5});
    CHECK(parse_cpu_list("\n") == std::vector<int>{});
    CHECK(parse_cpu_list("0-7:2/4") == std::vector<int>{0, 1, 4, 5});
    for (const char* bad : {"a", "1-", "-1", "3-1", "1,", "0-99999999", "1 2", "0-7:0/4", "0-7:2"})
        CHECK_FALSE(parse_cpu_list(bad));
    CHECK(format_cpu_list({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
    CHECK(format_cpu_list({}).empty());
}

TEST_CASE("who leaves CPUs to another process: a low priority beside it, not in a group of its own") {
    FakeTree proc;
    const auto stat = [](int nice, int policy) {
        return "1 (x) S 17 1 1 0 1 1 0 9 5 6 250 30 1 2 20 " + std::to_string(nice) +
               " 1 0 9 1000 200 1 1 2 3 4 5 0 0 0 0 0 0 0 17 1 0 " + std::to_string(policy) + " 0";
    };
    const auto leaves = [&](int nice, int policy) {
        return leaves_cpus_to(proc.root(), 2, *parse_task_stat(stat(nice, policy), 100), 1);
    };
    proc.write("1/stat", stat(0, 0));
    for (const char* pid : {"1", "2"})
        proc.write(std::string(pid) + "/cgroup", "4:memory:/other" + std::string(pid) + "\n1:cpu,cpuacct:/jobs\n0::/\n");
    CHECK(leaves(19, 0));
    CHECK(leaves(10, 0));
    CHECK(leaves(0, 5)); // SCHED_IDLE
    CHECK_FALSE(leaves(0, 0));
    CHECK_FALSE(leaves(9, 0));
    CHECK_FALSE(leaves(0, 3)); // SCHED_BATCH
    SECTION("the other one is in a group of its own") {
        proc.write("2/cgroup", "1:cpu,cpuacct:/batch\n0::/\n");
        CHECK_FALSE(leaves(19, 0));
        proc.write("2/cgroup", "0::/jobs\n");
        CHECK_FALSE(leaves(19, 0));
    }
    SECTION("one group for all controllers") {
        proc.write("1/cgroup", "0::/jobs\n");
        proc.write("2/cgroup", "0::/jobs\n");
        CHECK(leaves(19, 0));
    }
    SECTION("in another session") {
        proc.write("1/autogroup", "/autogroup-3 nice 0\n");
        proc.write("2/autogroup", "/autogroup-4 nice 0\n");
        proc.write("sys/kernel/sched_autogroup_enabled", "1\n");
        CHECK_FALSE(leaves(0, 5));
        proc.write("sys/kernel/sched_autogroup_enabled", "0\n");
        CHECK(leaves(0, 5));
    }
    SECTION("the process is as low itself") {
        proc.write("1/stat", stat(15, 0));
        CHECK_FALSE(leaves(19, 0));
        proc.write("1/stat", stat(0, 5));
        CHECK_FALSE(leaves(0, 5));
    }
    SECTION("what cannot be read") {
        proc.remove("2/cgroup");
        CHECK_FALSE(leaves(19, 0));
    }
}

TEST_CASE("stat of a task whose name is meant to confuse") {
    const std::string line =
        "4242 (a) R 7 (x) S 17 4242 4240 34816 4242 4194304 1234 9 5 6 250 30 1 2 20 0 3 0 987654 1000 200 "
        "18446744073709551615 1 2 3 4 5 0 0 0 0 0 0 0 17 11 0 0 0 0 0 1 2 3 4 5 6 7 0\n";
    const auto stat = parse_task_stat(line, 100);
    REQUIRE(stat);
    CHECK(stat->name == "a) R 7 (x");
    CHECK(stat->state == 'S');
    CHECK(stat->parent_pid == 17);
    CHECK(stat->group == 4242);
    CHECK(stat->session == 4240);
    CHECK(stat->minor_faults == 1234);
    CHECK(stat->major_faults == 5);
    CHECK(stat->user_ns == 2'500'000'000);
    CHECK(stat->system_ns == 300'000'000);
    CHECK(stat->thread_count == 3);
    CHECK(stat->start_ticks == 987654);
    CHECK(stat->cpu == 11);
    CHECK(stat->nice == 0);
    CHECK(stat->policy == 0);
    CHECK(stat->stack_start == 3);
    CHECK(stat->environment_bytes == 1);
    const auto idle = parse_task_stat("1 (x) S 17 1 1 0 1 1 0 9 5 6 250 30 1 2 39 19 1 0 9 1000 200 1 1 2 3 4 5 0 0 0 0 0 0 0 17 1 0 5 0", 100);
    REQUIRE(idle);
    CHECK(idle->nice == 19);
    CHECK(idle->policy == 5);
    CHECK(parse_task_stat("1 (x) S 17 1 1 0 1 1 0 9 5 6 250 30 1 2 39 -7 1 0 9 1000 200 1 1 2 3 4 5 0 0 0 0 0 0 0 17 1 0 0 0", 100)->nice == -7);
    CHECK_FALSE(parse_task_stat("", 100));
    CHECK_FALSE(parse_task_stat("1 (x", 100));
    CHECK_FALSE(parse_task_stat(")1(", 100));
    CHECK_FALSE(parse_task_stat("1 (x) S 1 2 3", 100));
}

TEST_CASE("schedstat, status and sched of a task") {
    const auto scheduling = parse_task_scheduling("123456789 42 7\n");
    REQUIRE(scheduling);
    CHECK(scheduling->run_ns == 123456789);
    CHECK(scheduling->run_delay_ns == 42);
    CHECK_FALSE(parse_task_scheduling("12 3"));

    const TaskStatus status = parse_task_status("Name:\tx\nUid:\t1000\t0\t0\t0\nVmHWM:\t  2048 kB\n"
                                                "RssAnon:\t  1024 kB\nRssFile:\t  3 kB\nRssShmem:\t  5 kB\n"
                                                "Cpus_allowed:\tff\nCpus_allowed_list:\t0-3,7\n"
                                                "voluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t5\n");
    CHECK(status.allowed_cpus == "0-3,7");
    CHECK(status.voluntary_switches == 11);
    CHECK(status.involuntary_switches == 5);
    CHECK(status.found_switches);
    CHECK(status.user_id == 0);
    CHECK(status.peak_resident_bytes == 2048 * 1024);
    CHECK(status.anonymous_bytes == 1024 * 1024);
    CHECK(status.shared_bytes == 5 * 1024);
    CHECK_FALSE(parse_task_status("Name:\tzombie\n").found_switches);

    CHECK(parse_migrations("cat (1, #threads: 1)\nse.nr_migrations  :   17\nnr_switches : 3\n") == 17);
    CHECK_FALSE(parse_migrations("nr_switches : 3\n"));
}

TEST_CASE("the memory policy of a process") {
    FakeTree proc;
    CHECK(read_memory_policy(proc.root(), 7).empty());
    const auto policy = [&](const std::string& first_line) {
        proc.write("7/numa_maps", first_line + "\n7f0000000000 bind:1 anon=1\n");
        return read_memory_policy(proc.root(), 7);
    };
    CHECK(policy("00400000 default file=/bin/" + std::string(300, 'x') + " mapped=1 N0=1") == "default");
    CHECK(policy("00400000 interleave:0-1 file=/bin/x") == "interleave:0-1");
    CHECK(policy("00400000 weighted interleave:0,2 file=/bin/x") == "weighted interleave:0,2");
}

TEST_CASE("tasks of a fake /proc") {
    FakeTree proc;
    proc.write("10/task/10/schedstat", "5 6 7\n");
    proc.write("10/task/12/schedstat", "8 9 1\n");
    proc.write("10/cmdline", std::string("a\0b c\0", 6));
    proc.write("self/stat", "");
    auto threads = list_threads(proc.root(), 10);
    std::sort(threads.begin(), threads.end());
    CHECK(threads == std::vector<uint32_t>{10, 12});
    CHECK(list_processes(proc.root()) == std::vector<uint32_t>{10});
    CHECK(read_task_scheduling(proc.root(), 10, 12)->run_ns == 8);
    CHECK_FALSE(read_task_scheduling(proc.root(), 10, 13));
    CHECK(read_command_line(proc.root(), 10) == std::string("a\0b c", 5));
    CHECK(read_command_line(proc.root(), 11).empty());
    CHECK(list_threads(proc.root(), 99).empty());
}

TEST_CASE("mappings") {
    const auto file = parse_mapping("7f00-8f00 r-xp 00001000 fd:12 345    /a dir/lib x.so (deleted)");
    REQUIRE(file);
    CHECK(file->start == 0x7f00);
    CHECK(file->end == 0x8f00);
    CHECK(file->executable);
    CHECK(file->file_offset == 0x1000);
    CHECK(file->device == (0xfdull << 32 | 0x12));
    CHECK(file->inode == 345);
    CHECK(file->path == "/a dir/lib x.so (deleted)");
    CHECK(parse_mapping("1000-2000 rw-p 00000000 00:00 0 ")->path.empty());
    CHECK_FALSE(parse_mapping("1000-2000"));
    CHECK_FALSE(parse_mapping("1000 2000 r-xp 0 0:0 0"));
    CHECK_FALSE(parse_mapping(""));
}

TEST_CASE("CPU times") {
    const auto times = parse_cpu_times("cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 400 5 6 7 8 90 0\n"
                                       "cpu12 1 2 3 4\nintr 5 5\nctxt 3\n", 100);
    REQUIRE(times.size() == 2);
    CHECK(times.at(0).user_ns == 1'200'000'000);
    CHECK(times.at(0).system_ns == 300'000'000);
    CHECK(times.at(0).idle_ns == 4'050'000'000);
    CHECK(times.at(0).interrupt_ns == 130'000'000);
    CHECK(times.at(0).steal_ns == 80'000'000);
    CHECK(times.at(12).user_ns == 30'000'000);
    CHECK(times.at(12).steal_ns == 0);
}

TEST_CASE("interrupts of a machine with a CPU offline") {
    const auto sources = parse_interrupts("           CPU0       CPU2       \n"
                                          "  24:          1         20  IO-APIC   5-edge      eth0-rx-1\n"
                                          " LOC:      29307      31561   Local timer interrupts\n"
                                          " ERR:          0\n");
    REQUIRE(sources.size() == 2);
    CHECK(sources[0].name == "24 eth0-rx-1");
    CHECK(sources[0].counts == std::vector<std::pair<int, uint64_t>>{{0, 1}, {2, 20}});
    CHECK(sources[1].name == "LOC Local timer interrupts");
    CHECK(parse_interrupts("").empty());
}

TEST_CASE("softirqs by CPU, and a machine without the file") {
    FakeTree tree;
    CHECK(read_softirqs(tree.root()).empty());
    tree.write("softirqs", "                    CPU0       CPU1       \n"
                           "       TIMER:      38175      48912\n"
                           "      NET_RX:       5050       7275\n");
    const auto sources = read_softirqs(tree.root());
    REQUIRE(sources.size() == 2);
    CHECK(sources[1].name == "softirq NET_RX");
    CHECK(sources[1].counts == std::vector<std::pair<int, uint64_t>>{{0, 5050}, {1, 7275}});
}

TEST_CASE("memory of two nodes, and of a kernel without nodes") {
    FakeTree proc, sys;
    sys.write("devices/system/node/online", "0-1\n");
    sys.write("devices/system/node/node0/meminfo", "Node 0 MemTotal:  1000 kB\nNode 0 MemFree:  10 kB\n"
                                                   "Node 0 FilePages:  20 kB\nNode 0 AnonPages: 30 kB\n"
                                                   "Node 0 Active: 99 kB\nNode 0 Active(file): 4 kB\n"
                                                   "Node 0 Inactive(file): 3 kB\nNode 0 Shmem: 13 kB\n");
    sys.write("devices/system/node/node0/numastat", "numa_hit 5\nnuma_miss 6\nnuma_foreign 7\n");
    sys.write("devices/system/node/node1/meminfo", "Node 1 MemTotal:  0 kB\n");
    const auto nodes = read_node_memory(proc.root(), sys.root());
    REQUIRE(nodes.size() == 1); // node 1 has CPUs only
    CHECK(nodes[0].total_bytes == 1000 * 1024);
    CHECK(nodes[0].free_bytes == 10 * 1024);
    CHECK(nodes[0].file_bytes == 20 * 1024);
    CHECK(nodes[0].anonymous_bytes == 30 * 1024);
    CHECK(nodes[0].reclaimable_bytes == 7 * 1024);
    CHECK(nodes[0].local_allocations == 5);
    CHECK(nodes[0].missed_allocations == 6);
    CHECK(nodes[0].foreign_allocations == 7);

    FakeTree plain_proc, no_nodes;
    plain_proc.write("meminfo", "MemTotal:  77 kB\nMemFree:  7 kB\nCached:  5 kB\nAnonPages: 3 kB\n");
    const auto plain = read_node_memory(plain_proc.root(), no_nodes.root());
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].total_bytes == 77 * 1024);
    CHECK(plain[0].file_bytes == 5 * 1024);
}

TEST_CASE("the only node has all memory of the machine, also where its kernel counts a part of it into the node") {
    FakeTree proc, sys;
    sys.write("devices/system/node/online", "0\n");
    sys.write("devices/system/node/node0/meminfo", "Node 0 MemTotal:  900 kB\nNode 0 MemFree:  10 kB\nNode 0 FilePages:  20 kB\n");
    proc.write("meminfo", "MemTotal:  2400 kB\nMemFree:  1500 kB\nCached:  25 kB\n");
    const auto some = read_node_memory(proc.root(), sys.root());
    REQUIRE(some.size() == 1);
    CHECK(some[0].total_bytes == 2400 * 1024);
    CHECK(some[0].free_bytes == 1500 * 1024);
    CHECK(some[0].file_bytes == 20 * 1024);
    proc.write("meminfo", "MemTotal:  500 kB\nMemFree:  400 kB\n"); // of a container, less than the machine's
    CHECK(read_node_memory(proc.root(), sys.root())[0].total_bytes == 900 * 1024);
    proc.write("meminfo", "MemTotal:  2400 kB\nMemFree:  1500 kB\n");
    sys.write("devices/system/node/online", "0-1\n");
    sys.write("devices/system/node/node1/meminfo", "Node 1 MemTotal:  900 kB\n");
    for (const NodeMemoryStat& node : read_node_memory(proc.root(), sys.root()))
        CHECK(node.total_bytes == 900 * 1024); // of two nodes it is not known which has the rest
}

TEST_CASE("counters of memory that went elsewhere, or moved") {
    const MemoryCounters counted = parse_vmstat("nr_free_pages 5\nnuma_hit 10\npgmigrate_success 3\nthp_fault_alloc 7\n"
                                                "numa_broken x\npgfault 9\nthp_migration_success\n");
    CHECK(counted == MemoryCounters{{"numa_hit", 10}, {"pgmigrate_success", 3}, {"thp_fault_alloc", 7}});
    CHECK(parse_vmstat("").empty());
    FakeTree tree;
    CHECK(read_memory_counters(tree.root()).empty());
    tree.write("proc/vmstat", "pgmigrate_success 3\nnuma_hint_faults 4\n");
    tree.write("sys/devices/system/node/online", "0,2\n");
    tree.write("sys/devices/system/node/node0/numastat", "numa_hit 5\nnuma_miss 6\n");
    tree.write("sys/devices/system/node/node2/numastat", "numa_hit 1\nother_node 2\n");
    const MemoryCounters before = read_memory_counters(tree.root());
    CHECK(before == MemoryCounters{{"node0:numa_hit", 5}, {"node0:numa_miss", 6}, {"node2:numa_hit", 1},
                                   {"node2:other_node", 2}, {"numa_hint_faults", 4}, {"pgmigrate_success", 3}});
    tree.write("sys/devices/system/node/node0/numastat", "numa_hit 5\nnuma_miss 16\n");
    tree.write("proc/vmstat", "pgmigrate_success 2\nnuma_hint_faults 9\nthp_fault_alloc 1\n");
    // What fell (a counter that began anew) and what was not there before tell nothing.
    CHECK(difference(before, read_memory_counters(tree.root())) ==
          MemoryCounters{{"node0:numa_miss", 10}, {"numa_hint_faults", 5}});
}

TEST_CASE("executables") {
    const auto self = read_elf_image("/proc/self/exe");
    REQUIRE(self);
    CHECK(self->is_native());
    CHECK(self->has_interpreter);
    CHECK(self->interpreter.find("ld") != std::string::npos);

    FakeTree tree;
    tree.write("text", "#!/bin/sh\n");
    tree.write("cut", std::string("\177ELF\2\1\1", 7));
    Elf64_Ehdr header{};
    std::copy_n("\177ELF\2\1\1", 7, header.e_ident);
    header.e_machine = EM_AARCH64;
    header.e_type = ET_EXEC;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 0xffff; // says more program headers than there are
    header.e_phoff = sizeof header;
    tree.write("liar", std::string(reinterpret_cast<char*>(&header), sizeof header));
    header.e_phnum = 0;
    tree.write("arm", std::string(reinterpret_cast<char*>(&header), sizeof header));
    for (const char* bad : {"/text", "/cut", "/liar", "/missing"})
        CHECK_FALSE(read_elf_image(tree.root() + bad));
    const auto arm = read_elf_image(tree.root() + "/arm");
    REQUIRE(arm);
    CHECK_FALSE(arm->has_interpreter);
#if defined(__x86_64__)
    CHECK_FALSE(arm->is_native());
#endif
}

TEST_CASE("what a process reads and writes") {
    const IoCounts counts = parse_io_counts(
        "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 0\nwrite_bytes: 323932160\n");
    CHECK(counts.read_bytes == 323934931);
    CHECK(counts.write_bytes == 323929600);
    CHECK(counts.read_calls == 632687);
    CHECK(counts.write_calls == 632675);
    CHECK(parse_io_counts("").read_calls == 0);
    CHECK(parse_io_counts("rchar").read_bytes == 0);
}
