// Kernel time by cause, library time, migration and overlapping masks on made-up runs.
#include "analyses/lines/launch_command.h"
#include "analyses/time/kernel_cause.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/interpreted_code.h"
#include "diagnoses/kernel/fault_source.h"
#include "diagnoses/kernel/kernel_advice.h"
#include "diagnoses/metrics.h"
#include "synthetic_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kTouch = 0x400200, kLoop = 0x400300;
constexpr uint64_t kRead = 0x7f0000001000, kMemset = 0x7f0000002000, kBlas = 0x7f1000001000;
constexpr uint64_t kSysRead = 0xffffffff81000010, kFault = 0xffffffff81000020, kCopy = 0xffffffff81000030,
                   kUnnamed = 0xffffffff81000040;

SyntheticRun program() {
    SyntheticRun made(4, 2);
    made.add_thread(0, 1, 0);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kTouch, "touch", "app", "/src/app.c", 20);
    made.name(kLoop, "loop", "app", "/src/app.c", 30);
    made.name(kRead, "__GI___libc_read+0x12", "libc.so.6");
    made.name(kMemset, "__memset_avx2_unaligned", "libc.so.6");
    made.name(kSysRead, "__x64_sys_read+0x5", "[kernel]");
    made.name(kFault, "exc_page_fault+0x70", "[kernel]");
    made.name(kCopy, "copy_user_generic", "[kernel]");
    made.add_module("[kernel]", 0xffffffff81000000, 0xffffffff82000000, model::Module::Kind::kernel);
    made.finish();
    return made;
}

// Marks the last `count` nodes of the path as the kernel's.
uint32_t kernel_path(SyntheticRun& made, const std::vector<uint64_t>& addresses, size_t count) {
    const uint32_t leaf = made.add_path(addresses, true, true);
    auto& nodes = made.run.processes.back().paths;
    for (size_t i = 0; i < count; i++)
        nodes[leaf - i].kernel = true;
    return leaf;
}

double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

KernelCause cause_of(SyntheticRun& made, uint32_t node) {
    model::CallPaths paths(made.run, made.resolver);
    return kernel_cause_of(paths, 0, node);
}

} // namespace

TEST_CASE("wrappers of system calls") {
    CHECK(system_call_of_wrapper("__GI___libc_read+0x12") == "read");
    CHECK(system_call_of_wrapper("pread64") == "pread");
    CHECK(system_call_of_wrapper("__write_nocancel") == "write");
    CHECK(system_call_of_wrapper("__lll_lock_wait_private") == "futex");
    CHECK(system_call_of_wrapper("__memset_avx2_unaligned") == "");
    CHECK(system_call_of_wrapper("") == "");
}

TEST_CASE("calls of a thread that the run does not wait for gain nothing") {
    SyntheticRun made = program();
    made.add_thread(1, 0.5, 0);
    made.add_samples(0, made.add_path({kMain, kLoop}), 4000);
    made.add_samples(1, made.add_path({kMain, kTouch}), 1000);
    made.add_samples(1, kernel_path(made, {kMain, kTouch, kRead, kSysRead}, 1), 1000, 1000);
    std::vector<model::Thread>& threads = made.run.processes.back().threads;
    const auto gain_where_the_run_waits_for = [&](double first_s, double second_s) {
        threads[0].wall_running_ns = SyntheticRun::ns(first_s);
        threads[1].wall_running_ns = SyntheticRun::ns(second_s);
        const std::vector<Finding> findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.fraction == Approx(1.0 / 6).epsilon(0.05));
        return findings[0].gain;
    };
    const Gain unknown = gain_where_the_run_waits_for(0, 0);
    CHECK(unknown.certain() == Approx(1.0 / 6).epsilon(0.05));
    const Gain none = gain_where_the_run_waits_for(4, 0);
    CHECK(none.fraction == 0);
    CHECK(none.how.find("does not wait for the rest") != std::string::npos);
    CHECK(severity_of(none, 4) == Severity::info);
    CHECK(gain_where_the_run_waits_for(3.6, 0.4).fraction == Approx(0.05)); // half of its time is in the call
    CHECK(gain_where_the_run_waits_for(0, 4).fraction == Approx(1.0 / 6).epsilon(0.05)); // no more than it costs
}

TEST_CASE("time in interrupts is information: whether another CPU can take them is not known") {
    SyntheticRun made = program();
    made.name(kUnnamed, "asm_sysvec_reschedule_ipi+0x1a", "[kernel]");
    made.add_samples(0, made.add_path({kMain, kLoop}), 3000);
    made.add_samples(0, kernel_path(made, {kMain, kLoop, kUnnamed}, 1), 1000, 1000);
    const std::vector<Finding> findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.25).epsilon(0.01));
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("accesses that the kernel emulates") {
    SyntheticRun made = program(); // 4 s on one CPU
    SECTION("counted by the kernel") {
        made.run.hosts[0].event_counts = {{"alignment-faults", 100, 800'000}, {"page-faults", 100, 1'000'000}};
        const std::vector<Finding> findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "faults_per_second") == Approx(200'000));
        CHECK(findings[0].cost.fraction == Approx(0.2)); // a microsecond each
        CHECK(findings[0].severity == Severity::high);
        CHECK(std::get<std::string>(findings[0].subject.details.at("cause")) == "alignment-faults");
    }
    SECTION("few, or none") {
        made.run.hosts[0].event_counts = {{"alignment-faults", 100, 300}, {"emulation-faults", 100, 0}};
        CHECK(made.diagnose("kernel-time").empty());
    }
    SECTION("named by the kernel's frames; plumb's own trap is no finding") {
        made.name(kCopy, "do_alignment_fault", "[kernel]");
        CHECK(cause_of(made, kernel_path(made, {kMain, kCopy}, 1)).kind == KernelCause::Kind::alignment_fault);
        made.name(kCopy, "exc_alignment_check+0x10", "[kernel]");
        const uint32_t leaf = kernel_path(made, {kMain, kCopy}, 1);
        CHECK(cause_of(made, leaf).kind == KernelCause::Kind::own);
        made.add_samples(0, leaf, 3000, 3000);
        CHECK(made.diagnose("kernel-time").empty());
    }
}

TEST_CASE("larger requests are advised where requests are small") {
    SyntheticRun made = program(); // 4 s on one CPU
    made.add_samples(0, kernel_path(made, {kMain, kRead, kSysRead}, 1), 3000, 3000);
    made.add_samples(0, made.add_path({kMain}, true), 1000, 0);
    model::Process& process = made.run.processes.back();
    const auto finding = [&] {
        const std::vector<Finding> findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        return findings[0];
    };
    SECTION("sizes are not known") {
        CHECK(finding().severity == Severity::high);
        CHECK(finding().advice[0].what == "Read more at a time");
        CHECK_FALSE(finding().evidence.contains("request_count"));
    }
    SECTION("small") {
        process.read_calls = 5'000'000;
        process.read_bytes = 5'000'000 * 100;
        CHECK(finding().severity == Severity::high);
        CHECK(finding().advice[0].what == "Read more at a time");
        CHECK(number(finding(), "request_mean_bytes") == Approx(100));
    }
    SECTION("large: what as many calls cost without their data is gained at most") {
        process.read_calls = 2000;
        process.read_bytes = 2000ull << 20;
        CHECK(finding().severity == Severity::info);
        CHECK(finding().advice[0].what == "Read less, or without copying");
        CHECK(finding().title.find("in requests of 1.00 MiB on average") != std::string::npos);
        process.read_calls = 200'000; // 0.2 s of 4
        process.read_bytes = 200'000ull * 20'000;
        CHECK(finding().severity == Severity::medium);
    }
    SECTION("in between: the data must be moved, too") {
        process.read_calls = 50'000; // 0.05 s of 4
        process.read_bytes = 50'000ull * 8192;
        CHECK(finding().gain.fraction == Approx(0.0125));
        CHECK(finding().severity == Severity::low);
        CHECK(finding().advice[0].what == "Read more at a time");
    }
    SECTION("of writes nothing is said here") {
        process.write_calls = 10;
        process.write_bytes = 10 << 20;
        CHECK(finding().severity == Severity::high);
    }
}

TEST_CASE("what the kernel does for plumb's own code is not the program's") {
    SyntheticRun made = program();
    constexpr uint64_t kReturn = 0x7f5000001000; // of its signal handler
    made.add_module("/usr/lib/plumb/libplumb.so", 0x7f5000000000, 0x7f5000100000);
    made.name(kReturn, "plumb_signal_return", "libplumb.so");
    SECTION("the end of its handler") {
        made.name(kCopy, "__x64_sys_rt_sigreturn", "[kernel]");
        const uint32_t leaf = kernel_path(made, {kMain, kReturn, kCopy}, 1);
        CHECK(cause_of(made, leaf).kind == KernelCause::Kind::own);
        made.add_samples(0, leaf, 3000, 3000);
        CHECK(made.diagnose("kernel-time").empty());
        // Registers already restored: the program's handler, unless every unaligned access traps.
        const uint32_t restored = kernel_path(made, {kMain, kCopy}, 1);
        const uint32_t programs = kernel_path(made, {kMain, kRead, kCopy}, 1); // by the C library's trampoline
        CHECK(cause_of(made, restored).name == "sigreturn");
        made.run.processes.back().alignment.mode = model::Alignment::Mode::exact;
        made.run.processes.back().alignment.hits = 1'000'000;
        CHECK(cause_of(made, restored).kind == KernelCause::Kind::own);
        CHECK(cause_of(made, programs).name == "sigreturn");
    }
    SECTION("a page fault in its tables") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kReturn, kFault}, 1)).kind == KernelCause::Kind::own);
    }
    SECTION("a system call that a hook makes for the program is the program's") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kReturn, kSysRead}, 1)).kind == KernelCause::Kind::system_call);
    }
}

TEST_CASE("the cause of a kernel sample") {
    SyntheticRun made = program();
    const auto call = KernelCause::Kind::system_call;
    const auto fault = KernelCause::Kind::page_fault;
    SECTION("named by the kernel") {
        const KernelCause cause = cause_of(made, kernel_path(made, {kMain, kSysRead, kCopy}, 2));
        CHECK(cause.kind == call);
        CHECK(cause.name == "read");
    }
    SECTION("a fault inside a system call belongs to the call") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kSysRead, kCopy, kFault}, 3)).kind == call);
    }
    SECTION("a page fault named by the kernel") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kFault, kCopy}, 2)).kind == fault);
    }
    SECTION("no kernel symbols: the wrapper tells") {
        const KernelCause cause = cause_of(made, kernel_path(made, {kMain, kRead, kUnnamed}, 1));
        CHECK(cause.kind == call);
        CHECK(cause.name == "read");
    }
    SECTION("no kernel symbols and no wrapper: a fault") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kTouch, kUnnamed}, 1)).kind == fault);
        CHECK(cause_of(made, kernel_path(made, {kMain, kMemset, kUnnamed}, 1)).kind == fault);
    }
}

TEST_CASE("putting threads of a team to sleep is the OpenMP runtime's, what runs in its regions is not") {
    SyntheticRun made = program();
    constexpr uint64_t kOpenmp = 0x7f6000001000;
    made.add_module("/usr/lib/libgomp.so.1.0.0", 0x7f6000000000, 0x7f6000100000);
    made.name(kOpenmp, "GOMP_parallel", "libgomp.so.1.0.0");
    made.name(kCopy, "__x64_sys_futex", "[kernel]");
    const uint32_t leaf = kernel_path(made, {kMain, kOpenmp, kCopy}, 1);
    CHECK(cause_of(made, leaf).maker == KernelCause::Maker::openmp);
    CHECK(cause_of(made, kernel_path(made, {kMain, kOpenmp, kTouch, kCopy}, 1)).maker == KernelCause::Maker::program);
    made.add_samples(0, leaf, 600, 600);
    made.add_samples(0, made.add_path({kMain, kLoop}), 400);
    const auto findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].title.find("futex inside the OpenMP runtime") != std::string::npos);
}

TEST_CASE("what an MPI library does while its rank waits is no finding, what the program does itself is one") {
    SyntheticRun made = program();
    constexpr uint64_t kHook = 0x7f5000001000, kMpi = 0x7f6000001000, kPart = 0x7f7000001000, kYield = 0x7f0000003000;
    made.add_module("/usr/lib/plumb/libplumb.so", 0x7f5000000000, 0x7f5000100000);
    made.add_module("/opt/mpi/lib/libmpi.so.40", 0x7f6000000000, 0x7f6000100000);
    made.add_module("/usr/lib/libevent_core-2.1.so.7", 0x7f7000000000, 0x7f7000100000); // which the library uses
    made.name(kHook, "MPI_Barrier", "libplumb.so");
    made.name(kMpi, "PMPI_Barrier", "libmpi.so.40");
    made.name(kPart, "event_base_loop", "libevent_core-2.1.so.7");
    made.name(kYield, "__sched_yield+0x7", "libc.so.6");
    made.name(kCopy, "__x64_sys_sched_yield", "[kernel]");
    SECTION("inside a call of the program") {
        const uint32_t leaf = kernel_path(made, {kMain, kHook, kMpi, kPart, kYield, kCopy}, 1);
        CHECK(cause_of(made, leaf).maker == KernelCause::Maker::mpi);
        CHECK(cause_of(made, kernel_path(made, {kMain, kHook, kMpi, kYield, kUnnamed}, 1)).maker == KernelCause::Maker::mpi); // by the wrapper
        made.add_samples(0, leaf, 600, 600);
        made.add_samples(0, made.add_path({kMain, kLoop}), 400);
        const auto findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].gain.fraction == 0);
        CHECK(findings[0].title.find("sched_yield inside MPI") != std::string::npos);
    }
    SECTION("the program's own spinning beside it, and in an operator that MPI calls") {
        CHECK(cause_of(made, kernel_path(made, {kMain, kHook, kMpi, kTouch, kYield, kCopy}, 1)).maker == KernelCause::Maker::program);
        made.add_samples(0, kernel_path(made, {kMain, kHook, kMpi, kYield, kCopy}, 1), 300, 300);
        made.add_samples(0, kernel_path(made, {kMain, kTouch, kYield, kCopy}, 1), 400, 400);
        const auto findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 2);
        CHECK(findings[0].severity == Severity::info); // the thread it waits for is not done any sooner
        CHECK(findings[0].gain.fraction > 0);
        CHECK(findings[0].where[0].line == 20);
        CHECK(findings[0].advice[0].what == "Do not spin with sched_yield");
        CHECK(findings[1].severity == Severity::info);
    }
    SECTION("files that the program reads through MPI") {
        made.name(kMpi, "PMPI_File_read_at", "libmpi.so.40");
        CHECK(cause_of(made, kernel_path(made, {kMain, kHook, kMpi, kRead, kSysRead}, 1)).maker == KernelCause::Maker::program);
    }
}

TEST_CASE("advice against page faults goes by whose memory they are for") {
    SyntheticRun made = program();
    model::Process& process = made.run.processes[0];
    process.threads[0].minor_faults = 100'000; // 400 MB
    CHECK(fault_source(made.run) == FaultSource::unknown);
    process.heap.recorded = true;
    process.heap.allocated_bytes = 300'000'000;
    CHECK(fault_source(made.run) == FaultSource::allocator);
    process.heap.allocated_bytes = 50'000'000;
    CHECK(fault_source(made.run) == FaultSource::own_mappings);
    process.heap.allocated_bytes = 300'000'000;
    process.max_rss_bytes = 2'000'000'000; // huge pages
    CHECK(fault_source(made.run) == FaultSource::own_mappings);
    process.max_rss_bytes = 0;
    const KernelCause fault{KernelCause::Kind::page_fault, "page faults"}, map{KernelCause::Kind::system_call, "mmap"};
    const auto tunes = [](const std::vector<Advice>& all) {
        return std::ranges::any_of(all, [](const Advice& one) { return one.command.find("GLIBC_TUNABLES") == 0; });
    };
    CHECK(tunes(kernel_advice(fault, "app", FaultSource::allocator)));
    CHECK(tunes(kernel_advice(map, "app", FaultSource::allocator)));
    CHECK_FALSE(tunes(kernel_advice(fault, "app", FaultSource::own_mappings)));
    CHECK_FALSE(tunes(kernel_advice(map, "app", FaultSource::own_mappings)));
    const auto says = [](const std::vector<Advice>& all, const char* words) {
        return std::ranges::any_of(all, [&](const Advice& one) { return one.how.find(words) != std::string::npos; });
    };
    process.max_rss_bytes = 2'000'000'000;
    CHECK(says(kernel_advice(fault, "app", FaultSource::own_mappings), "MADV_HUGEPAGE"));
    CHECK(says(kernel_advice(fault, "app", FaultSource::own_mappings), "MAP_POPULATE"));
    CHECK_FALSE(says(kernel_advice(fault, "app", FaultSource::own_mappings), "-Xms"));
    CHECK(fault_source(made.run) == FaultSource::own_mappings);
    process.modules.emplace_back().path = "/usr/lib/jvm/lib/server/libjvm.so";
    CHECK(fault_source(made.run) == FaultSource::java);
    CHECK(says(kernel_advice(fault, "app", FaultSource::java), "-Xms"));
    CHECK_FALSE(says(kernel_advice(fault, "app", FaultSource::java), "MADV_HUGEPAGE"));
    process.max_rss_bytes = 0;
    CHECK(moves_data("pread"));
    CHECK(moves_data("sendto"));
    CHECK_FALSE(moves_data("futex"));
    CHECK_FALSE(moves_data("munmap"));
    // All memory is kept: larger thresholds would change nothing.
    process.max_rss_bytes = 400'000'000;
    CHECK(fault_source(made.run) == FaultSource::kept);
    CHECK_FALSE(says(kernel_advice(fault, "app", FaultSource::kept), "thresholds"));
    process.max_rss_bytes = 0;
    // A script that starts 200 programs.
    process.threads[0].minor_faults = 2000;
    made.run.processes.resize(200, process);
    CHECK(fault_source(made.run) == FaultSource::process_starts);
    CHECK_FALSE(tunes(kernel_advice(fault, "app", FaultSource::process_starts)));
    made.run.processes.resize(19);
    CHECK(fault_source(made.run) != FaultSource::process_starts);
}

TEST_CASE("kernel time is split by cause and attributed to lines") {
    SyntheticRun made = program();
    made.run.processes[0].threads[0].minor_faults = 1000000;
    made.add_samples(0, kernel_path(made, {kMain, kTouch, kFault}, 1), 300, 300);
    made.add_samples(0, kernel_path(made, {kMain, kRead, kSysRead}, 1), 100, 100);
    made.add_samples(0, made.add_path({kMain, kLoop}), 600);
    const auto findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].cost.fraction == Approx(0.3));
    CHECK(findings[0].where[0].line == 20);
    CHECK(number(findings[0], "kernel_fraction") == Approx(0.4));
    CHECK(number(findings[0], "time_per_fault_us") == Approx(1.2));
    CHECK(findings[1].cost.fraction == Approx(0.1));
    CHECK(findings[1].where[0].line == 10);
    CHECK(findings[1].title.find("the system call read") != std::string::npos);
}

TEST_CASE("time of a system call includes the C library's function of it") {
    SyntheticRun made = program();
    made.add_samples(0, kernel_path(made, {kMain, kRead, kSysRead}, 1), 300, 300);
    made.add_samples(0, made.add_path({kMain, kRead}), 100);
    made.add_samples(0, made.add_path({kMain, kLoop}), 600);
    const auto findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.4));
    CHECK(number(findings[0], "kernel_fraction") == Approx(0.3));
    CHECK(number(findings[0], "c_library_part_fraction") == Approx(0.25));
}

TEST_CASE("a thread that yields while it waits for another loses CPU time, but for certain no time of the run") {
    SyntheticRun made = program();
    made.name(0x7f0000005000, "sched_yield", "libc.so.6");
    made.add_samples(0, made.add_path({kMain, 0x7f0000005000}), 400, 380);
    made.add_samples(0, made.add_path({kMain, kLoop}), 600);
    const auto findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.4).epsilon(0.06));
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("a thread that sleeps in short naps loses CPU time, but for certain no time of the run") {
    for (const char* call : {"nanosleep", "clock_nanosleep"}) {
        SyntheticRun made = program();
        made.name(0x7f0000005000, call, "libc.so.6");
        made.add_samples(0, made.add_path({kMain, 0x7f0000005000}), 100, 100);
        made.add_samples(0, made.add_path({kMain, kLoop}), 900);
        const auto findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].title.find(call) != std::string::npos);
        CHECK(findings[0].gain.fraction == Approx(0.1));
        CHECK(findings[0].gain.at_least == 0);
        CHECK(findings[0].severity == Severity::info);
    }
}

TEST_CASE("system calls of an interpreter are its script's, those for its memory are not") {
    SyntheticRun made = program();
    model::Process& process = made.run.processes[0];
    process.executable = process.modules[0].path = "/usr/bin/python3.11";
    process.arguments = {"/usr/bin/python3", "-u", "records.py", "--fast"};
    constexpr uint64_t kMap = 0xffffffff81000050;
    made.name(kMap, "__x64_sys_munmap", "[kernel]");
    const bool memory = GENERATE(false, true);
    made.add_samples(0, kernel_path(made, {kMain, kRead, memory ? kMap : kSysRead}, 1), 700, 700);
    made.add_samples(0, made.add_path({kMain, kLoop}), 300);
    const auto severity = [&] {
        const auto findings = made.diagnose("kernel-time");
        REQUIRE(findings.size() == 1);
        return findings[0].severity;
    };
    CHECK(severity() == (memory ? Severity::info : Severity::high));
    process.arguments[2] = "/usr/bin/installed-tool";
    CHECK(severity() == Severity::info);
}

TEST_CASE("whose code an interpreter runs") {
    SyntheticRun made = program();
    model::Process& process = made.run.processes[0];
    const auto users = [&](const std::string& executable, std::vector<std::string> arguments) {
        process.executable = executable;
        process.arguments = std::move(arguments);
        return interprets_users_code(made.run, process);
    };
    CHECK(users("/usr/bin/python3.11", {"python3", "-W", "ignore", "sum.py"}));
    CHECK(users("/usr/bin/dash", {"sh", "-e", "./job.sh"}));
    CHECK(users("/usr/bin/perl", {"perl", "-w", "count.pl", "input"}));
    CHECK_FALSE(users("/usr/bin/perl", {"perl", "/usr/bin/ack", "word"}));
    CHECK_FALSE(users("/usr/bin/python3.11", {"python3", "-m", "json.tool", "input"}));
    CHECK_FALSE(users("/usr/bin/sort", {"sort", "input"}));
    CHECK_FALSE(users("/usr/bin/dash", {"sh"}));
    CHECK_FALSE(users("/usr/bin/dash", {"sh", "-"}));
    CHECK_FALSE(users("/usr/bin/dash", {"sh", "-ec", "cc -c a.c"})); // by another program
    made.run.command = {"sh", "-c", "cat a"};
    CHECK(users("/usr/bin/dash", {"sh", "-c", "cat a"}));
    CHECK_FALSE(users("/usr/bin/python3.11", {}));
}

TEST_CASE("a program that computes has no kernel-time finding") {
    SyntheticRun made = program();
    made.add_samples(0, made.add_path({kMain, kLoop}), 980);
    made.add_samples(0, kernel_path(made, {kMain, kTouch, kFault}, 1), 20, 20);
    CHECK(made.diagnose("kernel-time").empty());
}

TEST_CASE("without kernel samples the accounting speaks, and says what is missing") {
    SyntheticRun made = program();
    made.add_samples(0, made.add_path({kMain, kLoop}), 500);
    made.run.processes[0].threads[0].user_ns = SyntheticRun::ns(1);
    made.run.processes[0].threads[0].system_ns = SyntheticRun::ns(3);
    const auto findings = made.diagnose("kernel-time");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.75));
    CHECK(findings[0].severity == Severity::info); // what it is spent for is not known
    CHECK(findings[0].gain.fraction == 0);
    CHECK(findings[0].where.empty());
    CHECK(findings[0].advice[0].command == "sudo sysctl kernel.perf_event_paranoid=1");
    made.run.processes[0].threads[0].system_ns = SyntheticRun::ns(0.1);
    CHECK(made.diagnose("kernel-time").empty());
}

TEST_CASE("a library that does the work is info; the reference BLAS counts where vectors decide its speed") {
    SyntheticRun made = program();
    const auto finding_in = [&](const char* path, const char* function) {
        made.name(kBlas, function, "library");
        made.add_module(path, 0x7f1000000000, 0x7f1000010000);
        made.add_samples(0, made.add_path({kMain, kBlas}), 800);
        made.add_samples(0, made.add_path({kMain, kLoop}), 200);
        const auto findings = made.diagnose("library-time");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].subject.kind == "library");
        CHECK(number(findings[0], "library_fraction") == Approx(0.8));
        return findings[0];
    };
    SECTION("some library") {
        const Finding finding = finding_in("/usr/lib/libsomething.so.1", "some_function");
        CHECK(finding.severity == Severity::info);
        CHECK(finding.advice.size() == 1);
    }
    SECTION("one that can be exchanged: with what to try it, and through which function it was entered") {
        made.name(kBlas + 0x100, "transform_pass", "library");
        made.add_samples(0, made.add_path({kMain, kBlas, kBlas + 0x100}), 3000);
        made.run.command = {"./app", "8"};
        made.name(kBlas, "fftw_execute", "library");
        made.add_module("/usr/lib/libfftw3.so.3", 0x7f1000000000, 0x7f1000010000);
        made.add_samples(0, made.add_path({kMain, kLoop}), 1000);
        const auto findings = made.diagnose("library-time");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(std::get<std::vector<std::string>>(findings[0].evidence.at("called_functions")) == std::vector<std::string>{"fftw_execute"});
        REQUIRE(findings[0].advice.size() == 2);
        CHECK(findings[0].advice[0].how.starts_with("100 % of its time is in calls of fftw_execute; "));
        CHECK(findings[0].advice[1].command == "plumb try --cure fft -- ./app 8");
    }
    SECTION("matrix products: half of 80 % for certain, but nobody measured it here") {
        const Finding finding = finding_in("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "dgemm_");
        CHECK(finding.severity == Severity::medium);
        CHECK(finding.gain.certain() == Approx(0.4));
    }
    SECTION("sums of vectors wait for memory, whoever wrote them") {
        const Finding finding = finding_in("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "daxpy_");
        CHECK(finding.severity == Severity::info);
        CHECK(finding.gain.certain() == 0);
    }
}

TEST_CASE("only busy threads that move all the time migrate too much") {
    SyntheticRun made = program();
    model::Thread& thread = made.run.processes[0].threads[0];
    SECTION("a handful") {
        thread.migrations = 40;
        CHECK(made.diagnose("thread-migration").empty());
    }
    SECTION("a thread that mostly sleeps") {
        thread.migrations = 4000;
        thread.run_ns /= 10;
        CHECK(made.diagnose("thread-migration").empty());
    }
    SECTION("a thousand moves a second") {
        thread.migrations = 4000;
        made.run.hosts[0].topology.xml = R"(<object type="L2Cache" os_index="0" cache_size="2000000" depth="2">)";
        const auto findings = made.diagnose("thread-migration");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.how == "estimated");
        CHECK(findings[0].cost.seconds == Approx(4000 * (5e-6 + 2e6 / 10e9)));
        CHECK(findings[0].severity == Severity::medium);
    }
}

TEST_CASE("masks that force threads together are named, at no cost of their own") {
    SyntheticRun made(4, 2);
    SECTION("two on one CPU") {
        made.add_thread(1, 0.5, 0.5).allowed_cpus = {1};
        made.add_thread(1, 0.5, 0.5).allowed_cpus = {1};
        made.finish();
        const auto findings = made.diagnose("placement-overlap");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].subject.name == "1");
        CHECK(findings[0].title == "2 threads may only use CPU 1 while CPU 0 is free");
    }
    SECTION("one after the other") {
        made.add_thread(1, 1, 0, 0, 2).allowed_cpus = {1};
        made.add_thread(1, 1, 0, 2, 4).allowed_cpus = {1};
        made.finish();
        CHECK(made.diagnose("placement-overlap").empty());
    }
    SECTION("each its own") {
        made.add_thread(0, 1, 0).allowed_cpus = {0};
        made.add_thread(1, 1, 0).allowed_cpus = {1};
        made.finish();
        CHECK(made.diagnose("placement-overlap").empty());
    }
    SECTION("no CPU is free") {
        made.add_thread(1, 0.5, 0.5).allowed_cpus = {1};
        made.add_thread(1, 0.5, 0.5).allowed_cpus = {1};
        made.add_thread(0, 1, 0);
        made.finish();
        CHECK(made.diagnose("placement-overlap").empty());
    }
}

TEST_CASE("confidence grows with samples") {
    CHECK(confidence_above(10, 100, 0.1) < 0.6);
    CHECK(confidence_above(20, 100, 0.1) > 0.95);
    CHECK(confidence_above(6, 20, 0.1) < confidence_above(300, 1000, 0.1));
    CHECK(confidence_above(0, 0, 0.1) == 0);
    CHECK(share_error(500, 1000) == Approx(0.0158).epsilon(0.01));
}

TEST_CASE("commands are quoted for the shell") {
    CHECK(shell_line({"./a", "it's", "", "$x", "-n=3"}) == R"(./a 'it'\''s' '' '$x' -n=3)");
}

TEST_CASE("metrics carry their formula") {
    SyntheticRun made(4, 2);
    made.add_thread(0, 1, 0);
    made.add_thread(1, 0.5, 0.5);
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    std::map<std::string, double> values;
    for (const Metric& metric : metrics_of(paths, analyses_of(paths))) {
        CHECK(!metric.how.empty());
        values[metric.name] = metric.value;
    }
    CHECK(values.at("CPU utilisation") == Approx(0.75));
    CHECK(values.at("parallel efficiency") == Approx(0.75));
    CHECK(values.at("load balance") == Approx(0.75));
    CHECK(values.at("run delay fraction") == Approx(0.25));
}

TEST_CASE("page faults of starting, and of memory touched once, are not repeated") {
    SyntheticRun made(1, 2);
    made.add_thread(0, 1, 0);
    model::Process& process = made.run.processes[0];
    process.max_rss_bytes = 22u << 20;
    process.threads[0].minor_faults = 7'840; // 32 MB: two of some pages, while libraries were loaded
    CHECK(repeated_fault_share(made.run) == 0);
    process.threads[0].minor_faults = 100'000; // 410 MB
    CHECK(repeated_fault_share(made.run) == Approx(1 - (23.1e6 + 12.3e6) / 410e6).epsilon(0.01));
}
