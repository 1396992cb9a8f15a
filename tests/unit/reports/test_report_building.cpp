// How a run becomes a report: the profile by the user's lines, sorting, the tool's own cost, bounded charts,
// escaping.
#include "analysis/build_report.h"
#include "analysis/overlaps.h"
#include "reports/words/line_texts.h"
#include "reports/cpu_timeline.h"
#include "reports/html/report.h"
#include "reports/html/writer.h"
#include "reports/json/report.h"
#include "analysis/own_cost.h"
#include "reports/html/page_data.h"
#include "analysis/profile.h"
#include "reports/words/run_summary.h"
#include "reports/text/report.h"
#include "support/figures.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace plumb;

namespace {

// Addresses of the program (below 0x2000) have source lines, those of libm only symbols.
class TwoModules : public model::SourceResolver {
  public:
    std::vector<model::SourceFrame> resolve(const model::Module& module, uint64_t address) override {
        if (module.path == "/opt/app")
            return {{"compute", "/src/app.c", static_cast<uint32_t>(address & 0xff), "app", false}};
        return {{"sin+0x" + std::to_string(address & 0xf), "", 0, "libm.so.6", false}};
    }
};

// main line 5 calls sin (two different instructions); line 7 is hot itself, half of it in the kernel.
model::Run small_run() {
    model::Run run;
    run.begin_ns = 0;
    run.end_ns = 10'000'000'000;
    model::Process process;
    model::Module app, libm;
    app.kind = model::Module::Kind::program;
    app.path = "/opt/app";
    app.start = 0x1000;
    app.end = 0x2000;
    libm.path = "/lib/x86_64-linux-gnu/libm.so.6";
    libm.start = 0x8000;
    libm.end = 0x9000;
    process.modules = {app, libm};
    process.paths = {{},
                     {0, 0x1006, false, false, false},
                     {1, 0x8001, true, false, false},
                     {1, 0x8002, true, false, false},
                     {0, 0x1007, true, false, false}};
    process.threads.resize(1);
    process.threads[0].run_ns = 8'000'000'000;
    process.samples = {
        {0, 2, 30, 3'000'000'000, 0}, {0, 3, 20, 2'000'000'000, 0}, {0, 4, 30, 3'000'000'000, 15}};
    process.own_cost_ns = 1'000'000;
    run.processes = {process};
    model::Host host;
    host.recorder_cpu_ns = 50'000'000;
    host.samples = 1'000;
    host.sample_cost_ns = 2'000;
    run.hosts = {host};
    return run;
}

// Samples in code of the shim, which the program of small_run() has loaded.
void add_shim_samples(model::Run& run, uint64_t samples, uint64_t time_ns) {
    model::Module shim;
    shim.path = "/opt/plumb/lib/libplumb.so";
    shim.start = 0x20000;
    shim.end = 0x30000;
    model::Process& process = run.processes[0];
    process.modules.push_back(shim);
    process.paths.push_back({1, 0x20010, true, false, false});
    process.samples.push_back({0, 5, samples, time_ns, 0});
}

template <int cents> class Costs : public Diagnosis {
  public:
    const char* id() const override { return "costs"; }
    std::vector<Finding> diagnose(const DiagnosisInput&) const override {
        Finding finding;
        finding.id = "costs-" + std::to_string(cents);
        finding.cost.fraction = cents / 100.0;
        finding.gain = {finding.cost.fraction, "all of it", std::nullopt};
        return {finding};
    }
};

class Fails : public Diagnosis {
  public:
    const char* id() const override { return "fails"; }
    std::vector<Finding> diagnose(const DiagnosisInput&) const override {
        throw std::runtime_error("no reason");
    }
};

template <typename T> std::unique_ptr<Diagnosis> make() {
    return std::make_unique<T>();
}

const DiagnosisEntry entries[] = {{"small", "", make<Costs<1>>},
                                  {"middle", "", make<Costs<5>>},
                                  {"fails", "", make<Fails>},
                                  {"large", "", make<Costs<40>>},
                                  {"larger", "", make<Costs<60>>}};

} // namespace

TEST_CASE("time in a library counts for the user's line that called it") {
    const model::Run run = small_run();
    TwoModules resolver;
    model::CallPaths paths(run, resolver);
    const Profile profile = build_profile(paths, 10);
    REQUIRE(profile.lines.size() == 2);
    CHECK(profile.seconds == Approx(8));
    CHECK(profile.lines[0].frame.line == 5);
    CHECK(profile.lines[0].seconds == Approx(5));
    CHECK(profile.lines[0].leaf_function == "sin"); // both instructions of it
    CHECK(profile.lines[0].leaf_module == "libm.so.6");
    CHECK(profile.lines[1].frame.line == 7);
    CHECK(profile.lines[1].kernel_fraction == Approx(0.5));
    REQUIRE(profile.libraries.size() == 3);
    CHECK(profile.libraries[0].module == "libm.so.6");
    CHECK(profile.libraries[0].fraction == Approx(5.0 / 8));
    double sum = 0;
    for (const LibraryShare& share : profile.libraries)
        sum += share.seconds;
    CHECK(sum == Approx(8));
}

TEST_CASE("findings are sorted by severity and cost; one failing diagnosis takes nothing with it") {
    const model::Run run = small_run();
    TwoModules resolver;
    model::CallPaths paths(run, resolver);
    const Report report = build_report(paths, entries, {});
    REQUIRE(report.findings.size() == 4);
    CHECK(report.findings[0].id == "costs-60");
    CHECK(report.findings[3].id == "costs-1");
    CHECK(report.looked_for.size() == 4);
    REQUIRE_FALSE(report.evidence.empty());
    CHECK(report.evidence.back().source == "fails");
    CHECK(report.evidence.back().why.find("no reason") != std::string::npos);
}

TEST_CASE("findings that report the same time from two sides are marked") {
    const auto finding = [](const char* id, uint32_t line, Severity severity = Severity::high) {
        Finding made;
        made.id = id;
        made.severity = severity;
        made.gain.fraction = 0.4;
        Location& place = made.where.emplace_back();
        place.file = "/src/app.c";
        place.function = "f";
        place.module = "app";
        place.line = line;
        place.share = 1;
        return made;
    };
    std::vector<Finding> findings = {finding("pipe-wait", 13), finding("kernel-time", 13), finding("kernel-time", 13),
                                     finding("heap-bound", 20), finding("lock-wait", 13, Severity::info)};
    mark_overlaps(findings);
    CHECK(findings[0].overlaps == std::vector<size_t>{1, 2});
    CHECK(findings[1].overlaps == std::vector<size_t>{0}); // reads and writes take time of their own each
    CHECK(findings[2].overlaps == std::vector<size_t>{0});
    CHECK(findings[3].overlaps.empty());
    CHECK(findings[4].overlaps.empty());
    CHECK(overlap_text(findings[0]) == "the same time in part as findings 2 and 3: the gains do not add up");
    std::vector<Finding> of_job = {finding("cycle-variation", 1), finding("cpu-oversubscribed", 13), finding("mpi-late-rank", 20),
                                   finding("heap-bound", 1), finding("mpi-collective-wait", 1, Severity::info)};
    mark_overlaps(of_job);
    CHECK(of_job[0].overlaps == std::vector<size_t>{1, 2}); // at whatever lines
    CHECK(of_job[1].overlaps == std::vector<size_t>{0});
    CHECK(of_job[3].overlaps.empty());
    const auto listed = [&](std::initializer_list<size_t> indexes) {
        std::vector<const Finding*> list;
        for (const size_t index : indexes)
            list.push_back(&findings[index]);
        return overlaps_text(list, 5);
    };
    CHECK(listed({0, 1, 2, 3}) == "The gains of 1, 2 and 3 are the same time in part: they do not add up. "
                                    "All together are more than the whole run.");
    CHECK(listed({0, 1}) == "The gains of 1 and 2 are the same time in part: they do not add up.");
    for (Finding& one : findings)
        one.overlaps.clear();
    CHECK(listed({0, 1, 3}) == "These gains are more than the whole run together: they do not add up.");
    CHECK(listed({0, 3}).empty());
}

TEST_CASE("severity follows what the advice gains for certain") {
    const auto severity = [](double fraction, double run_s, std::optional<double> at_least = std::nullopt) {
        return severity_of({fraction, "", at_least}, run_s);
    };
    CHECK(severity(0.10, 10) == Severity::high);
    CHECK(severity(0.099, 10) == Severity::medium);
    CHECK(severity(0.03, 10) == Severity::medium);
    CHECK(severity(0.029, 10) == Severity::low);
    CHECK(severity(0.01, 10) == Severity::low);
    CHECK(severity(0.0099, 10) == Severity::info);
    CHECK(severity(0.9, 0.022) == Severity::info); // less than 20 ms
    CHECK(severity(0.9, 0.023) == Severity::high);
    CHECK(severity(0.5, 10, 0.04) == Severity::medium); // the rest is uncertain
    CHECK(severity(0.5, 10, 0) == Severity::info);
    CHECK(severity(NAN, 10) == Severity::info);
}

TEST_CASE("a run that is too short to judge is not said to be clean") {
    const model::Run run = small_run();
    Report report;
    report.run = &run;
    report.samples = 99;
    report.cpu_seconds = 10;
    CHECK(outcome_of(report) == Outcome::too_short);
    CHECK(verdict(report).find("Too few samples to judge: 10.0 s of CPU time, 99 time samples") == 0);
    report.samples = 1000;
    report.cpu_seconds = 0.33;
    CHECK(outcome_of(report) == Outcome::too_short);
    report.cpu_seconds = 0.5;
    CHECK(outcome_of(report) == Outcome::nothing_found);
    CHECK(verdict(report).find("Nothing out of plumb found") == 0);
    report.findings.emplace_back(); // info
    CHECK(outcome_of(report) == Outcome::nothing_found);
    report.findings.front().severity = Severity::low;
    report.samples = 0;
    CHECK(outcome_of(report) == Outcome::findings);
}

TEST_CASE("figures have no exponents") {
    CHECK(format_count(1e12) == "1.00 T");
    CHECK(format_count(2.5e15) == "2.50 P");
    CHECK(format_seconds(1.66e-7) == "166 ns");
    CHECK(format_seconds(0.000125) == "125 us");
    CHECK(format_fraction(1) == "100 %");
}

TEST_CASE("--only runs what it names and refuses what does not exist") {
    const model::Run run = small_run();
    TwoModules resolver;
    model::CallPaths paths(run, resolver);
    CHECK(build_report(paths, entries, {"large"}).findings.size() == 1);
    CHECK_THROWS_AS(build_report(paths, entries, {"lagre"}), Error);
}

TEST_CASE("own cost adds recorder, samples and shim") {
    const model::Run run = small_run();
    TwoModules resolver;
    const model::CallPaths paths(run, resolver);
    const OwnCost cost = own_cost_of(paths, 8);
    CHECK(cost.seconds == Approx(0.050 + 0.002 + 0.001));
    CHECK(cost.fraction == Approx(0.053 / 8));
    CHECK(cost.how.find("inside the program 1.00 ms (estimated per event)") != std::string::npos);
    CHECK(own_cost_of(paths, 0).fraction == 0);
}

TEST_CASE("samples in the shim's code count where they saw more than was estimated") {
    model::Run run = small_run();
    add_shim_samples(run, 60, 250'000'000);
    run.processes[0].heap.allocations = 1'000'000;
    TwoModules resolver;
    const model::CallPaths paths(run, resolver);
    const OwnCost cost = own_cost_of(paths, 8);
    CHECK(cost.seconds == Approx(0.050 + 0.002 + 0.250 / 2));
    CHECK(cost.how.find("inside the program 125 ms (half of what was sampled there)") != std::string::npos);
}

TEST_CASE("few samples in the shim's code do not outweigh what is estimated; loading and switches count") {
    model::Run run = small_run();
    add_shim_samples(run, 3, 12'000'000); // by chance
    run.processes[0].heap.allocations = run.processes[0].heap.frees = 1'000'000;
    run.processes[0].shim_loads = 2;
    run.hosts[0].load_cost_ns = 200'000;
    run.hosts[0].switches_cost_ns = 3'000'000;
    TwoModules resolver;
    const model::CallPaths paths(run, resolver);
    const OwnCost cost = own_cost_of(paths, 8);
    CHECK(cost.seconds == Approx(0.050 + 0.002 + 0.003 + 0.001 + 0.005 + 0.0004));
    CHECK(cost.how.find("inside the program 6.00 ms (estimated per event), loading libplumb.so 400 us") != std::string::npos);
    CHECK(cost.how.find("records of switches 3.00 ms") != std::string::npos);
}

TEST_CASE("the timeline is bounded and keeps the threads that stand out") {
    model::Run run = small_run();
    std::vector<model::Thread>& threads = run.processes[0].threads;
    threads.assign(500, {});
    for (size_t index = 0; index < threads.size(); index++) {
        threads[index].tid = static_cast<uint32_t>(index);
        for (uint64_t at = 0; at < 1'000; at++)
            threads[index].intervals.push_back(
                {at * 1'000'000, (at + 1) * 1'000'000, at < 900 ? 3 : 4, 500'000, 250'000, 1, 'R'});
        threads[index].run_ns = index == 200 ? 1'000 : index;
        threads[index].run_delay_ns = index == 200 ? 999'999 : 0;
    }
    CpuTimelineLimits limits;
    limits.lanes = 20;
    limits.lane_spans = 400;
    const CpuTimeline timeline = build_cpu_timeline(run, limits);
    REQUIRE(timeline.lanes.size() <= 20);
    CHECK(timeline.lanes.size() + timeline.lanes_left_out == 500);
    bool outlier = false;
    for (const Lane& lane : timeline.lanes) {
        outlier = outlier || lane.thread.find("(200)") != std::string::npos;
        CHECK(lane.spans.size() <= 401 / timeline.lanes.size() + 1);
        CHECK(lane.spans.front().cpu == 3);
        CHECK(lane.spans.back().cpu == 4);
        CHECK(lane.spans.front().running == Approx(0.5));
        CHECK(lane.spans.back().end == Approx(1.0));
        CHECK(lane.spans.front().waiting == Approx(0.25));
    }
    CHECK(outlier);
}

TEST_CASE("HTML and the data in it cannot be broken out of") {
    CHECK(html_escaped("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    HtmlWriter html;
    html.open("p", {{"title", "\"><script>"}}).text("</p><img onerror=x>");
    CHECK(html.take() == "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;img onerror=x&gt;</p>\n");
    CpuTimeline timeline;
    timeline.lanes.push_back({"</script><!--", "]]>&", {}});
    const std::string data = page_data(Report{}, timeline);
    CHECK(data.find('<') == std::string::npos);
    CHECK(data.find('>') == std::string::npos);
    CHECK(data.find("\\u003c/script") != std::string::npos);
}

TEST_CASE("an empty run has a report in every form") {
    model::Run run;
    run.processes.resize(1);
    TwoModules resolver;
    model::CallPaths paths(run, resolver);
    const Report report = build_report(paths, {}, {});
    CHECK(text_report(report, {80, false, false}).find("Too short to judge") != std::string::npos);
    CHECK(json_report(report).find("\"plumb-report/1\"") != std::string::npos);
    CHECK(html_report(report).find("</html>") != std::string::npos);
}
