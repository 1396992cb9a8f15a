// A machine that was looked at: programs in each other's way, and machines that are merely busy.
#include "diagnoses/machine/machine_findings.h"
#include "reports/words/system_words.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

// The program that SyntheticRun begins with idles; these run.
SyntheticRun machine(int cpus) {
    SyntheticRun made(10, cpus);
    made.run.of_machine = true;
    made.run.hosts[0].sample_period_ns = 4'000'000;
    return made;
}

std::vector<Finding> found(SyntheticRun& made, std::vector<Finding> (*diagnose)(const MachineInput&),
                           const kernel_log::Study* log = nullptr) {
    model::CallPaths paths(made.run, made.resolver);
    const SystemSummary system = summarise_system(paths);
    return diagnose({paths, system, log});
}

// Thread of a program of its own.
model::Thread& add(SyntheticRun& made, const char* name, int cpu, double run_share, double delay_share, double from = 0,
                   double to = -1) {
    made.add_process(name);
    return made.add_thread(cpu, run_share, delay_share, from, to);
}

} // namespace

TEST_CASE("two programs that are confined to one CPU beside an idle one", "[machine]") {
    SyntheticRun made = machine(2);
    add(made, "solver", 0, 0.5, 0.5).allowed_cpus = {0};
    add(made, "burner", 0, 0.5, 0.5).allowed_cpus = {0};
    made.finish();
    const std::vector<Finding> findings = found(made, contended_cpus);
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.id == "cpu-oversubscribed");
    CHECK(finding.subject.name == "0");
    CHECK(finding.cost.seconds == Approx(10)); // each waits half of ten seconds
    CHECK(finding.cost.fraction == Approx(0.5));
    CHECK(finding.gain.fraction == Approx(0.5).epsilon(0.01));
    CHECK(finding.title.find("CPU 1 idles") != std::string::npos);
    CHECK(finding.advice[0].command.find("taskset -a -c -p 0,1 ") == 0);
}

TEST_CASE("time that belongs to no program that was seen is reported", "[machine]") {
    SyntheticRun made = machine(2);
    add(made, "solver", 0, 0.5, 0);
    made.finish();
    const auto verdict = [&](double busy_s) {
        made.run.hosts[0].cpu_intervals = {{.cpu = 0, .allowed = true, .user_ns = static_cast<uint64_t>(busy_s * 1e9)}};
        model::CallPaths paths(made.run, made.resolver);
        const SystemSummary system = summarise_system(paths);
        CHECK(system.unseen_s == Approx(busy_s - 5));
        return system_verdict(system);
    };
    CHECK(verdict(8).find(" 15 % of the CPUs' time was of programs that were not seen") != std::string::npos);
    CHECK(verdict(5.1).find("not seen") == std::string::npos);
}

TEST_CASE("an idle CPU in another minute helps nobody", "[machine]") {
    SyntheticRun made = machine(2);
    add(made, "solver", 0, 0.5, 0.5, 0, 5).allowed_cpus = {0};
    add(made, "burner", 0, 0.5, 0.5, 0, 5).allowed_cpus = {0};
    add(made, "other", 1, 1, 0, 0, 5); // the other CPU is busy exactly then
    made.finish();
    const std::vector<Finding> findings = found(made, contended_cpus);
    for (const Finding& finding : findings)
        CHECK(finding.gain.fraction == 0);
}

TEST_CASE("more threads than CPUs, all busy: noted, with no gain by another placement", "[machine]") {
    SyntheticRun made = machine(2);
    for (int i = 0; i < 4; ++i)
        add(made, "worker", i % 2, 0.5, 0.5);
    made.finish();
    const std::vector<Finding> findings = found(made, contended_cpus);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].fixed_severity == Severity::info);
    CHECK(findings[0].gain.fraction == 0);
    CHECK(findings[0].title.find("2.00 threads") != std::string::npos);
}

TEST_CASE("threads that wait a little, as wake-ups make them, are no finding", "[machine]") {
    SyntheticRun made = machine(2);
    add(made, "server", 0, 0.4, 0.02);
    add(made, "client", 1, 0.3, 0.02);
    made.finish();
    CHECK(found(made, contended_cpus).empty());
}

TEST_CASE("a program in the kernel, by the call that takes it there", "[machine]") {
    SyntheticRun made = machine(1);
    add(made, "app", 0, 1, 0);
    made.add_module("[kernel]", 0xffffffff80000000, 0xffffffffff000000, model::Module::Kind::kernel);
    made.name(0x401000, "update", "/home/user/app", "/home/user/app.c", 12);
    made.name(0xffffffff80002000, "asm_exc_page_fault", "[kernel]");
    const uint32_t in_kernel = made.add_path({0x401000, 0xffffffff80002000}, true, true);
    const uint32_t own = made.add_path({0x401000});
    made.add_samples(0, in_kernel, 4'300, 4'300);
    made.add_samples(0, own, 5'700);
    made.finish();
    const std::vector<Finding> findings = found(made, kernel_routines);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].whole == "the CPU time of app");
    CHECK(findings[0].cost.fraction == Approx(0.43));
    CHECK(findings[0].gain.is_at_most);
    REQUIRE_FALSE(findings[0].where.empty());
    CHECK(findings[0].where[0].line == 12);
    CHECK(findings[0].title.find("100 % of that in the kernel's asm_exc_page_fault") != std::string::npos);

    SECTION("without the kernel's names nothing is said: a fault would be a guess") {
        made.resolver.frames.erase(0xffffffff80002000);
        model::CallPaths paths(made.run, made.resolver);
        const SystemSummary system = summarise_system(paths);
        CHECK(kernel_routines({paths, system, nullptr}).empty());
        CHECK(system.routines.empty());
        CHECK(system.kernel_sampled_s == Approx(4.3));
    }

    SECTION("a program that takes 2 % of the CPU time is nobody's concern") {
        made.run.processes.back().samples[0].time_ns /= 50;
        made.run.processes.back().samples[1].time_ns /= 50;
        add(made, "solver", 0, 1, 0);
        made.add_samples(0, made.add_path({0x401000}), 10'000);
        CHECK(found(made, kernel_routines).empty());
    }
}

TEST_CASE("a worker that loses a part of its CPU to one that comes now and then", "[machine]") {
    SyntheticRun made = machine(2);
    add(made, "solver", 0, 0.95, 0.05);
    add(made, "pollerd", 0, 0.05, 0.001);
    add(made, "solver", 1, 1, 0);
    made.finish();
    const std::vector<Finding> findings = found(made, interrupted_workers);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("2 threads of solver lose 2.5 % of the time to pollerd") == 0);
    CHECK(findings[0].cost.seconds == Approx(0.5));
    CHECK(found(made, contended_cpus).empty());
}

TEST_CASE("a worker that loses nothing, or whose loss nobody is known for", "[machine]") {
    SyntheticRun quiet = machine(1), unknown = machine(1);
    add(quiet, "solver", 0, 0.999, 0.001);
    add(quiet, "cron", 0, 0.001, 0);
    quiet.finish();
    CHECK(found(quiet, interrupted_workers).empty());
    add(unknown, "solver", 0, 0.95, 0.05);
    unknown.finish();
    CHECK(found(unknown, interrupted_workers).empty());
}

TEST_CASE("CPU time that a hypervisor takes from workers", "[machine]") {
    SyntheticRun made = machine(1);
    add(made, "solver", 0, 0.96, 0.01);
    made.finish();
    for (model::CpuInterval& interval : made.run.hosts[0].cpu_intervals)
        interval.steal_ns = (interval.end_ns - interval.begin_ns) * 4 / 100;
    const std::vector<Finding> findings = found(made, interrupted_workers);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "hypervisor");
    CHECK(findings[0].cost.fraction == Approx(0.04));
}

TEST_CASE("nodes full of cached files", "[machine]") {
    SyntheticRun made = machine(2);
    made.finish();
    constexpr uint64_t kGiB = 1ull << 30;
    const auto look = [&](int node, uint64_t time_ns, uint64_t free, uint64_t file, uint64_t local, uint64_t foreign) {
        model::NodeMemory memory{};
        memory.node = node;
        memory.time_ns = time_ns;
        memory.total_bytes = 16 * kGiB;
        memory.free_bytes = free;
        memory.file_bytes = file;
        memory.local_allocations = local;
        memory.foreign_allocations = foreign;
        made.run.hosts[0].memory.push_back(memory);
    };
    const uint64_t at = made.run.begin_ns;
    for (const uint64_t foreign : {0ull, 200'000ull}) { // pages
        made.run.hosts[0].memory.clear();
        look(0, at, kGiB / 4, 12 * kGiB, 1000, 0);
        look(1, at, 12 * kGiB, kGiB, 1000, 0);
        look(0, at + 1, kGiB / 4, 12 * kGiB, 601'000, foreign);
        look(1, at + 1, 12 * kGiB, kGiB, 601'000, 0);
        const std::vector<Finding> findings = found(made, full_nodes);
        REQUIRE(findings.size() == (foreign > 0 ? 1 : 0));
        if (!findings.empty())
            CHECK(std::get<double>(findings[0].evidence.at("spilled_fraction")) == Approx(0.25));
    }
}

TEST_CASE("split locks in the kernel's log", "[machine]") {
    SyntheticRun made = machine(1);
    made.finish();
    CHECK(found(made, logged_split_locks).empty()); // no log
    kernel_log::Study log;
    CHECK(found(made, logged_split_locks, &log).empty());
    kernel_log::PlacedGroup placed;
    placed.group.first.kind = kernel_log::Kind::segfault;
    placed.group.count = 5;
    log.groups.push_back(placed);
    CHECK(found(made, logged_split_locks, &log).empty());
    placed.group.first.kind = kernel_log::Kind::split_lock;
    placed.group.first.program = "app";
    placed.group.count = 3;
    placed.place.frames = {{"push", "/home/user/queue.c", 77, "/home/user/app", false}};
    log.groups.push_back(placed);
    const std::vector<Finding> findings = found(made, logged_split_locks, &log);
    REQUIRE(findings.size() == 1);
    REQUIRE_FALSE(findings[0].where.empty());
    CHECK(findings[0].where[0].line == 77);
    CHECK(std::get<int64_t>(findings[0].evidence.at("message_count")) == 3);
}
