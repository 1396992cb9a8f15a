// Lines of a machine's history: what is written is read again, and what is damaged is no interval.
#include "reports/json/system_history.h"
#include "reports/text/system_history.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

struct Looked {
    model::Run run;
    Report report;

    Looked() {
        run.start_unix_ns = 1'768'660'200'500'000'000;
        run.hosts.push_back({});
        run.hosts[0].name = "node7";
        report.run = &run;
        SystemSummary system;
        system.seconds = 600;
        system.cpus = {{0, {100, 200, 3, 4, 293}}, {1, {0, 0, 0, 0, 600}}};
        system.time = {100, 200, 3, 4, 893};
        system.programs = {{"solver", false, 1, 42, 90, 190, 7, 1234, "read_zero"}, {"kworker", true, 3, 0, 0, 5, 0, 10, ""}};
        system.is_sampled = true;
        system.routines = {{"read_zero", 180, "solver", 179}};
        system.kernel_sampled_s = 195;
        system.interrupts = {{"LOC Local timer interrupts", 250}};
        system.waiting_threads = 0.5;
        system.switches_hz = 321;
        system.memory = {{0, 16e9, 1e9, 3e9, 5e9}};
        report.system = system;
        Finding finding;
        finding.id = "kernel-time";
        finding.severity = Severity::high;
        finding.title = "solver spends 66 % of its CPU time in the system call read";
        finding.gain.fraction = 0.66;
        report.findings.push_back(finding);
    }
};

} // namespace

TEST_CASE("a line of a history is read as it was written", "[system]") {
    const Looked looked;
    const std::string line = history_line(looked.report);
    CHECK(line.find('\n') == std::string::npos);
    const auto entry = parse_history_line(line);
    REQUIRE(entry);
    CHECK(entry->host == "node7");
    CHECK(static_cast<double>(entry->begin_unix_ns) * 1e-9 == Approx(1'768'660'200.5));
    CHECK(static_cast<double>(entry->end_unix_ns - entry->begin_unix_ns) * 1e-9 == Approx(600));
    const SystemSummary& system = entry->system;
    REQUIRE(system.cpus.size() == 2);
    CHECK(system.cpus[0].time.idle_s == 293);
    REQUIRE(system.programs.size() == 2);
    CHECK(system.programs[0].pid == 42);
    CHECK(system.programs[0].waiting_s == 7);
    CHECK(system.programs[1].is_kernel);
    CHECK(system.programs[1].pid == 0);
    REQUIRE(system.routines.size() == 1);
    CHECK(system.routines[0].of_program_s == 179);
    REQUIRE(system.memory.size() == 1);
    CHECK(system.memory[0].anonymous_bytes == 5e9);
    REQUIRE(entry->findings.size() == 1);
    CHECK(entry->findings[0].gain_fraction == Approx(0.66));
    const std::string text = history_entry_text(*entry, "", {});
    CHECK(text.find("solver (42)") != std::string::npos);
    CHECK(text.find("kernel-time") != std::string::npos);
    CHECK(history_text({*entry}, 2, {}).find("2 lines are damaged") != std::string::npos);
}

TEST_CASE("a long list of programs does not make a line long", "[system]") {
    Looked looked;
    for (int i = 0; i < 10'000; ++i)
        looked.report.system->programs.push_back({"program" + std::to_string(i), false, 1, 1, 1, 1, 0, 0, ""});
    CHECK(history_line(looked.report).size() < 16'384);
}

TEST_CASE("damaged lines are no intervals, whatever is wrong with them", "[system]") {
    const Looked looked;
    const std::string line = history_line(looked.report);
    for (size_t length = 0; length < line.size(); length += 7)
        CHECK_FALSE(parse_history_line(line.substr(0, length)));
    CHECK_FALSE(parse_history_line("[]"));
    CHECK_FALSE(parse_history_line("null"));
    CHECK_FALSE(parse_history_line(R"({"schema":"plumb-system-history/1"})"));
    CHECK_FALSE(
        parse_history_line(R"({"schema":"plumb-system-history/1","begin_unix_seconds":1e300,"end_unix_seconds":2,"system":{}})"));
    // Other types than were written are read as nothing.
    const auto odd =
        parse_history_line(R"({"schema":"plumb-system-history/1","begin_unix_seconds":1,"end_unix_seconds":2,"host":3,
        "system":{"time":[],"cpus":{},"programs":[1,null,{"name":[],"pid":-5}],"kernel_routines":"x"},"findings":[[]]})");
    REQUIRE(odd);
    CHECK(odd->host.empty());
    CHECK(odd->system.programs.size() == 3);
    CHECK_FALSE(history_entry_text(*odd, "", {}).empty());
}
