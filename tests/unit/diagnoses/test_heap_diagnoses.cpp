// Heap diagnoses on made-up runs: shares and lines are known beforehand.
#include "analyses/time/allocator_code.h"
#include "diagnoses/common/confidence.h"
#include "synthetic_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kBuild = 0x400200, kCompute = 0x400300;
constexpr uint64_t kMalloc = 0x7f0000001000, kHidden = 0x7f0000000800, kWait = 0x7f0000002000, kQsort = 0x7f0000003000;

// One thread that ran all the time on one of two CPUs, with names for the addresses above.
SyntheticRun program(double seconds = 4, int threads = 1) {
    SyntheticRun made(seconds, 2);
    for (int thread = 0; thread < threads; thread++)
        made.add_thread(thread % 2, 1, 0);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kMain, "main", "app", "/src/app.cpp", 10);
    made.name(kBuild, "build", "app", "/src/app.cpp", 20);
    made.name(kCompute, "compute", "app", "/src/app.cpp", 30);
    made.name(kMalloc, "malloc", "libc.so.6");
    made.name(kWait, "__lll_lock_wait_private+0x20", "libc.so.6");
    made.name(kQsort, "qsort", "libc.so.6");
    made.finish();
    return made;
}

double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

void add_heap_site(SyntheticRun& made, uint32_t path, uint64_t allocations, uint64_t bytes, uint64_t freed,
                   double first_s, double last_s) {
    model::HeapSite site;
    site.path = path;
    site.allocations = allocations;
    site.allocated_bytes = bytes;
    site.freed_bytes = freed;
    site.samples = 100;
    site.first_ns = made.run.begin_ns + SyntheticRun::ns(first_s);
    site.last_ns = made.run.begin_ns + SyntheticRun::ns(last_s);
    model::Heap& heap = made.run.processes.back().heap;
    heap.recorded = true;
    heap.allocations += allocations;
    heap.allocated_bytes += bytes;
    heap.sites.push_back(site);
}

} // namespace

TEST_CASE("names of the allocator") {
    for (const char* name : {"malloc", "free+0x1c", "__libc_malloc", "__GI___libc_free", "_int_malloc",
                             "unlink_chunk.constprop.0", "operator new", "operator new[]",
                             "operator delete(void*, unsigned long)", "malloc@plt", "cfree"})
        CHECK(is_allocator_function(name));
    for (const char* name : {"", "pool::malloc", "my_malloc", "freeze", "operator newish", "Arena::operator new",
                             "memcpy", "reallocate"})
        CHECK_FALSE(is_allocator_function(name));
}

TEST_CASE("time in the allocator is reported by share and by line") {
    SyntheticRun made = program();
    made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 300);
    made.add_samples(0, made.add_path({kMain, kMalloc}), 100);
    made.add_samples(0, made.add_path({kMain, kCompute}), 600);
    const auto findings = made.diagnose("heap-bound");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.severity == Severity::high);
    CHECK(finding.cost.seconds == Approx(1.6));
    CHECK(finding.cost.fraction == Approx(0.4));
    CHECK(number(finding, "heap_fraction") == Approx(0.4));
    CHECK(number(finding, "heap_error_fraction") == Approx(0.0155).epsilon(0.02)); // sqrt(.4 * .6 / 1000)
    REQUIRE(finding.where.size() == 2);
    CHECK(finding.where[0].line == 20);
    CHECK(finding.where[0].share == Approx(0.75));
    CHECK(finding.subject.name == "/src/app.cpp:20");
    CHECK(finding.advice[1].command == "plumb try --cure jemalloc,tcmalloc,mimalloc -- ./app 'big file'");
}

TEST_CASE("larger thresholds are for memory that comes and goes; what a line keeps stands in the finding") {
    for (const bool keeps : {true, false}) {
        SyntheticRun made = program(10);
        const uint32_t path = made.add_path({kMain, kBuild, kMalloc});
        made.add_samples(0, path, 400, 300);
        made.add_samples(0, made.add_path({kMain, kCompute}), 600);
        model::Process& process = made.run.processes[0];
        process.threads[0].minor_faults = 100'000; // 410 MB
        process.max_rss_bytes = keeps ? 400'000'000 : 4'000'000;
        add_heap_site(made, made.add_path({kMain, kBuild}, false), 1000, 400'000'000, keeps ? 0 : 400'000'000, 0.5, 9.9);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        const auto tunes = [](const Advice& advice) { return advice.command.starts_with("GLIBC_TUNABLES"); };
        CHECK(std::ranges::any_of(findings[0].advice, tunes) == !keeps);
        CHECK((findings[0].advice[0].what == "Free what is no longer needed") == keeps);
        CHECK(findings[0].title.ends_with("381 MiB allocated there were never freed") == keeps);
    }
}

TEST_CASE("what the lines that allocate do besides counts for the cost, not for what is certain") {
    constexpr uint64_t kFill = 0x400400, kEnd = 0x400500, kFree = 0x7f0000001800;
    SyntheticRun made = program();
    made.name(kFree, "free", "libc.so.6");
    made.name(kEnd, "end_tree", "app", "/src/app.cpp", 50);
    made.resolver.frames[kFill] = {{"std::__uninitialized_default_n<double*>", "/usr/include/c++/12/bits/stl_uninitialized.h", 600, "app", true},
                                   {"std::vector<double>::vector", "/usr/include/c++/12/bits/stl_vector.h", 500, "app", true},
                                   {"build", "/src/app.cpp", 20, "app", false}};
    made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 200);
    made.add_samples(0, made.add_path({kMain, kFill}), 150);              // fills the block
    made.add_samples(0, made.add_path({kMain, kBuild}), 50);              // on the line of the call
    made.add_samples(0, made.add_path({kMain, kEnd, kEnd, kFree}), 100);
    made.add_samples(0, made.add_path({kMain, kEnd, kEnd}), 250);         // walks: as much as its frees took
    made.add_samples(0, made.add_path({kMain, kCompute}), 250);
    SECTION("all of it") {
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "heap_fraction") == Approx(0.3));
        CHECK(number(findings[0], "contents_fraction") == Approx(0.15));
        CHECK(number(findings[0], "call_lines_fraction") == Approx(0.05));
        CHECK(number(findings[0], "release_walks_fraction") == Approx(0.1));
        CHECK(findings[0].cost.fraction == Approx(0.6));
        CHECK(findings[0].gain.certain() == Approx(0.3 - share_error(300, 1000)));
    }
    SECTION("to use memory again takes time, too") {
        model::Heap& heap = made.run.processes.back().heap;
        heap.recorded = true;
        heap.allocations = heap.frees = 400'000'000; // at half a nanosecond each 0.4 s, of 4 s on a CPU
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].gain.certain() == Approx(0.2 - share_error(300, 1000)));
    }
    SECTION("a function that also allocates is no walk") {
        add_heap_site(made, made.add_path({kMain, kEnd}, false), 1000, 8'000'000, 8'000'000, 0, 4);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "release_walks_fraction") == 0);
    }
    SECTION("time in the shim is not the program's, neither the part nor the whole") {
        made.add_module("/opt/lib/libplumb.so", 0x7f2000000000, 0x7f2000010000);
        made.name(0x7f2000000100, "plumb::shim::count", "libplumb.so");
        made.add_samples(0, made.add_path({kMain, 0x7f2000000100}), 500);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.fraction == Approx(0.6));
    }
}

TEST_CASE("broken call paths: the heap sampler knows the lines") {
    SyntheticRun made = program();
    made.add_samples(0, made.add_path({kMalloc}), 500);
    made.add_samples(0, made.add_path({kMain, kCompute}), 500);
    SECTION("with the heap recorded") {
        add_heap_site(made, made.add_path({kMain, kBuild}, false), 900, 9000, 9000, 0, 4);
        add_heap_site(made, made.add_path({kMain}, false), 100, 1000000, 1000000, 0, 4);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        REQUIRE(findings[0].where.size() == 2);
        CHECK(findings[0].where[0].line == 20); // by number, not by bytes
        CHECK(findings[0].where[0].share == Approx(0.9));
        CHECK(findings[0].evidence.count("without_caller_fraction") == 0);
    }
    SECTION("without: no line is better than one inside the C library") {
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].where.empty());
        CHECK(number(findings[0], "without_caller_fraction") == Approx(1));
        CHECK(findings[0].advice.back().command == "plumb run --call-graph=fp -- ./app 'big file'");
    }
}

TEST_CASE("the unnamed functions in front of malloc are the allocator's, those in front of others are not") {
    SyntheticRun made = program();
    const uint32_t hidden = made.add_path({kMain, kHidden});
    made.add_samples(0, hidden, 200);
    made.add_samples(0, made.add_path({kMain, kQsort - 0x400}), 200);
    made.add_samples(0, made.add_path({kMain, kCompute}), 600);
    const auto findings = made.diagnose("heap-bound");
    REQUIRE(findings.size() == 1);
    CHECK(number(findings[0], "heap_fraction") == Approx(0.2));
}

TEST_CASE("half of a short run in the allocator is found; of installed programs, or spread thinly, it is for information") {
    SyntheticRun made = program(0.33);
    made.add_samples(0, made.add_path({kMain, kCompute}), 43);
    const double certain = 38. / 81 - share_error(38, 81);
    SECTION("at one line") {
        made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 38);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::high);
        CHECK(*findings[0].gain.at_least == Approx(certain));
    }
    SECTION("of a program that came with the system") {
        made.run.processes[0].modules[0].path = "/usr/bin/sqlite3";
        made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 38);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
    }
    SECTION("one sample at each of many lines") {
        for (uint64_t line = 0; line < 38; line++) {
            made.name(0x410000 + 16 * line, "parse", "app", "/src/parse.cpp", static_cast<uint32_t>(100 + line));
            made.add_samples(0, made.add_path({kMain, 0x410000 + 16 * line, kMalloc}), 1);
        }
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(*findings[0].gain.at_least == Approx(certain * 5 / 38));
    }
    SECTION("of blocks that live on: there is nothing to use again") {
        made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 38);
        add_heap_site(made, made.add_path({kMain, kBuild}, false), 1000, 80'000'000, 0, 0, 0.3);
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(*findings[0].gain.at_least == Approx(0).margin(1e-9));
    }
    SECTION("by a function that passes allocation on: many lines decide") {
        made.name(kBuild, "pool_alloc", "app", "/src/pool.cpp", 20);
        made.add_samples(0, made.add_path({kMain, kBuild, kMalloc}), 38);
        for (uint64_t line = 0; line < 40; line++) {
            made.name(0x410000 + 16 * line, "parse", "app", "/src/parse.cpp", static_cast<uint32_t>(100 + line));
            add_heap_site(made, made.add_path({kMain, 0x410000 + 16 * line, kBuild}, false), 100, 80'000, 80'000, 0, 0.3);
        }
        const auto findings = made.diagnose("heap-bound");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].where[0].line == 20);
        CHECK(*findings[0].gain.at_least == Approx(certain * 5 / 40).epsilon(1e-3)); // with half a nanosecond a call
    }
}

TEST_CASE("functions that pass allocation on say so by their name, not by their parameters") {
    for (const char* name : {"sqlite3DbMallocRaw", "pool_alloc", "Arena::Allocate(unsigned long)", "xmalloc", "ggc_internal_alloc"})
        CHECK(passes_allocation_on(name));
    for (const char* name : {"build(std::vector<int, std::allocator<int> >&)", "parse", "std::vector<int, std::allocator<int> >::push_back"})
        CHECK_FALSE(passes_allocation_on(name));
}

TEST_CASE("little time in the allocator, or few samples, make no finding") {
    SyntheticRun made = program();
    SECTION("2 %") {
        made.add_samples(0, made.add_path({kMain, kMalloc}), 20);
        made.add_samples(0, made.add_path({kMain, kCompute}), 980);
    }
    SECTION("a quarter of 60 samples") {
        made.add_samples(0, made.add_path({kMain, kMalloc}), 15);
        made.add_samples(0, made.add_path({kMain, kCompute}), 45);
    }
    SECTION("no samples at all") {}
    CHECK(made.diagnose("heap-bound").empty());
    CHECK(made.diagnose("heap-contention").empty());
}

TEST_CASE("contention needs threads that sleep in the allocator") {
    constexpr uint64_t kQuickCalls = 12'000'000; // in 0.6 s: the calls themselves are not slowed down
    SyntheticRun made = program(4, 2);
    for (model::Thread& thread : made.run.processes[0].threads)
        thread.voluntary_switches = 10000;
    for (uint32_t thread : {0, 1}) {
        made.add_samples(thread, made.add_path({kMain, kBuild, kMalloc}), 300);
        made.add_samples(thread, made.add_path({kMain, kCompute}), 200);
    }
    SECTION("none slept") { CHECK(made.diagnose("heap-contention").empty()); }
    SECTION("each slept for 1.5 of 4 s") {
        add_heap_site(made, made.add_path({kMain, kBuild}, false), kQuickCalls, 12'000'000, 12'000'000, 0, 4);
        made.run.processes[0].heap.sites[0].lock_wait_ns = SyntheticRun::ns(3);
        for (model::Thread& thread : made.run.processes[0].threads)
            thread.run_ns = SyntheticRun::ns(2);
        const auto findings = made.diagnose("heap-contention");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::high);
        CHECK(findings[0].cost.seconds == Approx(1.5));
        CHECK(findings[0].where[0].line == 20);
    }
    SECTION("what was blocked cannot be longer than the threads slept") {
        add_heap_site(made, made.add_path({kMain, kBuild}, false), kQuickCalls, 12'000'000, 12'000'000, 0, 4);
        made.run.processes[0].heap.sites[0].lock_wait_ns = SyntheticRun::ns(3);
        for (model::Thread& thread : made.run.processes[0].threads)
            thread.run_ns = SyntheticRun::ns(3.5);
        const auto findings = made.diagnose("heap-contention");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(0.5));
    }
    SECTION("samples in the locks are a witness of their own") {
        for (uint32_t thread : {0, 1})
            made.add_samples(thread, made.add_path({kMain, kMalloc, kWait}), 100);
        const auto findings = made.diagnose("heap-contention");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "lock_cpu_fraction") == Approx(200.0 / 1200));
    }
    SECTION("threads that hold one another up seldom run side by side: time in the locks is the run's, not a thread's") {
        for (uint32_t thread : {0, 1}) {
            made.add_samples(thread, made.add_path({kMain, kMalloc, kWait}), 1000);
            made.run.processes[0].threads[thread].run_ns = SyntheticRun::ns(2); // 4 s of CPU time in a run of 4 s
        }
        const auto findings = made.diagnose("heap-contention");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.fraction == Approx(2000.0 / 3000));
    }
    SECTION("what the locks and their data slow down counts, as far as calls are slower than free ones") {
        // 1000 of 2500 samples in the locks, 600 in the allocator besides: 8 M calls that take 240 ns each.
        add_heap_site(made, made.add_path({kMain, kBuild}, false), 4'000'000, 4'000'000, 4'000'000, 0, 4);
        made.run.processes[0].heap.frees = 4'000'000;
        for (uint32_t thread : {0, 1})
            made.add_samples(thread, made.add_path({kMain, kMalloc, kWait}), 750);
        for (model::SampleSite& site : made.run.processes[0].samples)
            site.time_ns = site.samples * 3'200'000; // 8 s of CPU time in 2500 samples
        const auto findings = made.diagnose("heap-contention");
        REQUIRE(findings.size() == 1);
        // What stays: 400 of 2500 samples of work, and 50 of 240 ns of 600. Both threads run side by side.
        CHECK(findings[0].cost.fraction == Approx(1 - (400 + 600 * 50 / 240.0) / 2500).epsilon(0.01));
        CHECK(findings[0].gain.certain() == Approx(1500.0 / 2500));
    }
    SECTION("one thread cannot contend") {
        made.run.processes[0].samples.clear();
        made.add_samples(0, made.add_path({kMain, kMalloc, kWait}), 500);
        CHECK(made.diagnose("heap-contention").empty());
    }
}

TEST_CASE("what grows to the end of the run is reported, what was set up once is not") {
    SyntheticRun made = program(10);
    const uint32_t path = made.add_path({kMain, kBuild}, false);
    SECTION("grows") {
        add_heap_site(made, path, 1000, 100'000'000, 1'000'000, 0.5, 9.9);
        const auto findings = made.diagnose("heap-leak");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].subject.name == "/src/app.cpp:20");
        CHECK(number(findings[0], "live_bytes") == 99e6);
        CHECK(number(findings[0], "growth_bytes_per_second") == Approx(99e6 / 9.4));
    }
    SECTION("allocated at the start") {
        add_heap_site(made, path, 1000, 100'000'000, 0, 0.1, 1);
        CHECK(made.diagnose("heap-leak").empty());
    }
    SECTION("freed again") {
        add_heap_site(made, path, 1000, 100'000'000, 95'000'000, 0.5, 9.9);
        CHECK(made.diagnose("heap-leak").empty());
    }
    SECTION("kept until the program takes everything down") {
        add_heap_site(made, path, 1000, 100'000'000, 100'000'000, 0.5, 9.9);
        made.run.processes[0].heap.sites.back().peak_live_bytes = 98'000'000;
        const auto findings = made.diagnose("heap-leak");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "live_bytes") == 98e6);
        CHECK(number(findings[0], "freed_at_end_fraction") == Approx(1));
        CHECK(findings[0].title.ends_with("MiB were freed only when it ended"));
    }
    SECTION("with temporaries of the same line") {
        add_heap_site(made, path, 1000, 100'000'000, 1'000'000, 0.5, 9.9);
        add_heap_site(made, made.add_path({kMain, kCompute, kBuild}, false), 1000, 400'000'000, 400'000'000, 0.5, 9.9);
        const auto findings = made.diagnose("heap-leak");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "live_bytes") == 99e6);
    }
    SECTION("on many paths, each of them busy for a moment only") {
        for (int part = 0; part < 10; part++)
            add_heap_site(made, made.add_path({kMain, kCompute + static_cast<uint64_t>(part), kBuild}, false), 100, 10'000'000, 0, part, part + 0.9);
        const auto findings = made.diagnose("heap-leak");
        REQUIRE(findings.size() == 1);
        CHECK(number(findings[0], "live_bytes") == 100e6);
    }
    SECTION("a queue that is never long") {
        add_heap_site(made, path, 1000, 100'000'000, 100'000'000, 0.5, 9.9);
        made.run.processes[0].heap.sites.back().peak_live_bytes = 20'000'000;
        CHECK(made.diagnose("heap-leak").empty());
    }
    SECTION("small") {
        add_heap_site(made, path, 1000, 1'000'000, 0, 0.5, 9.9);
        CHECK(made.diagnose("heap-leak").empty());
    }
}
