// Threads that move all that memory can, on made-up runs of machines whose roof is known.
#include "analyses/memory/bandwidth_use.h"
#include "diagnoses/metrics.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;
using Catch::Contains;

namespace {

constexpr uint64_t kLoop = 0x400200, kOther = 0x400300;
constexpr double kSeconds = 4;

int64_t number(const Finding& finding, const char* key) { return std::get<int64_t>(finding.evidence.at(key)); }
double real(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

model::BandwidthRoof roof(std::vector<double> gigabytes_per_s) {
    model::BandwidthRoof roof;
    roof.mix = {2, 1, 0, 0};
    roof.bytes = 1 << 30;
    for (size_t i = 0; i < gigabytes_per_s.size(); ++i) {
        model::BandwidthPoint point;
        point.threads = static_cast<uint32_t>(i + 1);
        point.nodes = 1;
        point.bytes_per_s = gigabytes_per_s[i] * 1e9;
        point.low = 0.98 * point.bytes_per_s;
        point.high = 1.02 * point.bytes_per_s;
        for (uint32_t cpu = 0; cpu < point.threads; ++cpu)
            point.cpus.push_back(static_cast<int>(cpu));
        roof.points.push_back(point);
    }
    return roof;
}
const std::vector<double> kFlat = {10, 19, 26, 27, 27, 27, 27, 27}, kGrowing = {10, 20, 29, 38, 47, 55, 63, 70};

model::MemoryStream stream(uint64_t address, bool store) {
    model::MemoryStream each;
    each.instruction = kLoop;
    each.kind.width = 8;
    each.kind.load = !store;
    each.kind.store = store;
    each.round_bytes = 8;
    each.read_bytes = 8;
    each.written_bytes = store ? 8 : 0;
    each.last_address = address;
    return each;
}

// Eight threads for 4 s, a part of that time in a triad that moves so much.
SyntheticRun program(double share, double gigabytes_per_s, const std::vector<double>& measured, double threads = 8,
                     int bursts = 16) {
    SyntheticRun made(kSeconds, 8);
    for (int cpu = 0; cpu < 8; ++cpu)
        made.add_thread(cpu, 1, 0);
    made.name(kLoop, "triad", "app", "/src/app.c", 20);
    made.name(kOther, "compute", "app", "/src/app.c", 5);
    const uint32_t in_loop = made.add_path({kLoop}), elsewhere = made.add_path({kOther});
    for (uint32_t thread = 0; thread < 8; ++thread) {
        const auto samples = static_cast<uint64_t>(4000 * share);
        made.add_samples(thread, in_loop, samples);
        made.add_samples(thread, elsewhere, 4000 - samples);
    }
    model::StreamingLoop loop;
    loop.begin = kLoop - 16;
    loop.end = kLoop + 16;
    loop.streams = {stream(0x430000, false), stream(0x440000, false), stream(0x450000, true)};
    for (int i = 0; i < bursts; ++i) {
        model::TrafficBurst burst;
        burst.begin_ns = made.run.begin_ns + SyntheticRun::ns(kSeconds * (i + 0.5) / bursts);
        burst.end_ns = burst.begin_ns + 8'000'000;
        burst.threads = threads;
        burst.read_bytes_per_s = gigabytes_per_s * 0.75e9;
        burst.written_bytes_per_s = gigabytes_per_s * 0.25e9;
        loop.bursts.push_back(burst);
    }
    made.run.processes[0].streaming_loops.push_back(loop);
    if (!measured.empty())
        made.run.hosts[0].bandwidth_roofs.push_back(roof(measured));
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        model::DataName name;
        if (address < 0x430000 || address >= 0x460000)
            return std::nullopt;
        name.name = std::string(1, static_cast<char>('b' + (address - 0x430000) / 0x10000));
        name.size = 0x10000;
        name.offset = address % 0x10000;
        return name;
    };
    made.finish();
    return made;
}

} // namespace

TEST_CASE("eight threads at a roof that three reach: the share of five brings nothing") {
    SyntheticRun made = program(0.5, 26, kFlat);
    const std::vector<Finding> findings = made.diagnose("bandwidth-saturated");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(number(finding, "thread_count") == 8);
    CHECK(number(finding, "enough_thread_count") == 3);
    CHECK(finding.cost.fraction == Approx(0.5 * 5 / 8).epsilon(0.02));
    CHECK(finding.cost.how == "estimated");
    CHECK(finding.severity == Severity::high);
    CHECK(finding.confidence > 0.9);
    CHECK(real(finding, "traffic_bytes_per_second") == Approx(26e9));
    CHECK(real(finding, "roof_bytes_per_second") == Approx(27e9));
    CHECK(real(finding, "one_thread_bytes_per_second") == Approx(10e9));
    CHECK(finding.gain.fraction == Approx(0.5 * (1 - 26.0 / 80)).epsilon(0.02));
    CHECK_THAT(finding.gain.how, Contains("upper bound"));
    CHECK(finding.subject.kind == "call-site");
    CHECK(finding.subject.name == "/src/app.c:20");
    REQUIRE_FALSE(finding.where.empty());
    CHECK(finding.where[0].line == 20);
    CHECK_THAT(finding.title, Contains("8 threads use all memory bandwidth, 26.0 GB/s") && Contains("3 of them"));
    const auto arrays = std::get<std::vector<std::string>>(finding.evidence.at("arrays"));
    REQUIRE(arrays.size() == 3);
    CHECK_THAT(arrays[0], Contains("`d` (written, 13.0 GB/s)")); // half of the traffic: read first, then written
    REQUIRE(finding.advice.size() == 3);
    CHECK_THAT(finding.advice[0].what, Contains("3 threads"));
    CHECK_THAT(finding.advice[2].how, Contains("25 % of the bytes"));
}

TEST_CASE("no finding where threads still bring something, do not move all, or are alone") {
    CHECK(program(0.5, 69, kGrowing).diagnose("bandwidth-saturated").empty());
    CHECK(program(0.5, 20, kFlat).diagnose("bandwidth-saturated").empty());
    CHECK(program(0.5, 26, kFlat, 3).diagnose("bandwidth-saturated").empty());
    CHECK(program(0.5, 10, kFlat, 1).diagnose("bandwidth-saturated").empty());
    CHECK(program(0.01, 26, kFlat).diagnose("bandwidth-saturated").empty());
}

TEST_CASE("arrays-refetched: loops over the same arrays at the roof, not over others, nor below it") {
    const auto two_loops = [](double gigabytes_per_s, uint64_t other_array) {
        SyntheticRun made = program(0.6, gigabytes_per_s / 2, kFlat, 4);
        std::vector<model::StreamingLoop>& loops = made.run.processes[0].streaming_loops;
        for (model::MemoryStream& each : loops[0].streams) {
            each.lowest_address = each.last_address;
            each.highest_address = each.last_address + 0x10000;
        }
        loops.push_back(loops[0]); // as much time: of `compute`
        loops[1].begin = kOther - 16;
        loops[1].end = kOther + 16;
        for (model::MemoryStream& each : loops[1].streams) {
            each.lowest_address += other_array;
            each.highest_address += other_array;
        }
        return made.diagnose("arrays-refetched");
    };
    const std::vector<Finding> findings = two_loops(26, 0);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].where.size() == 2);
    CHECK(number(findings[0], "loop_count") == 2);
    // All is moved twice, by loops of 60 and 40 % of the time: the smaller part is superfluous.
    CHECK(findings[0].cost.fraction == Approx(0.4).epsilon(0.03));
    CHECK(two_loops(26, 0x1000000).empty());
    CHECK(two_loops(10, 0).empty());
}

TEST_CASE("arrays-refetched: loops take turns that share bursts, or of which one is known to come after the other") {
    const auto findings = [](size_t common_bursts, bool after) {
        SyntheticRun made = program(0.6, 26, kFlat, 4);
        std::vector<model::StreamingLoop>& loops = made.run.processes[0].streaming_loops;
        for (model::MemoryStream& each : loops[0].streams) {
            each.lowest_address = each.last_address;
            each.highest_address = each.last_address + 0x10000;
        }
        loops.push_back(loops[0]);
        loops[1].begin = kOther - 16;
        loops[1].end = kOther + 16;
        loops[1].after = after ? loops[0].begin : 0;
        for (size_t i = 0; i < loops[1].bursts.size(); ++i)
            if (i >= common_bursts)
                loops[1].bursts[i].begin_ns += 100'000'000;
            else
                for (model::StreamingLoop& loop : loops) {
                    loop.bursts[i].threads /= 2;
                    loop.bursts[i].read_bytes_per_s /= 2;
                    loop.bursts[i].written_bytes_per_s /= 2;
                }
        return made.diagnose("arrays-refetched");
    };
    CHECK(findings(0, false).empty()); // one ran first, then the other, for all that is known
    CHECK(findings(2, false).empty());
    REQUIRE(findings(4, false).size() == 1);
    CHECK(number(findings(4, false)[0], "loop_count") == 2);
    REQUIRE(findings(0, true).size() == 1);
    CHECK(number(findings(0, true)[0], "loop_count") == 2);
}

TEST_CASE("no finding from evidence that does not carry one") {
    CHECK(program(0.5, 26, {}).diagnose("bandwidth-saturated").empty());     // nothing was timed
    CHECK(program(0.5, 60, kFlat).diagnose("bandwidth-saturated").empty()); // twice what can be: one figure is wrong
    CHECK(program(0.5, 26, kFlat, 8, 3).diagnose("bandwidth-saturated").empty()); // hardly looked at
    SyntheticRun made = program(0.5, 26, kFlat);
    for (model::BandwidthPoint& point : made.run.hosts[0].bandwidth_roofs[0].points) {
        point.low = 0.7 * point.bytes_per_s;
        point.high = 1.3 * point.bytes_per_s;
    }
    CHECK(made.diagnose("bandwidth-saturated").empty()); // the roof scatters
    SyntheticRun rarely = program(0.5, 26, kFlat);
    auto& bursts = rarely.run.processes[0].streaming_loops[0].bursts;
    for (size_t i = 0; i < 12; ++i)
        bursts[i].read_bytes_per_s = bursts[i].written_bytes_per_s = 5e9;
    CHECK(rarely.diagnose("bandwidth-saturated").empty()); // a quarter of the time
}

TEST_CASE("ranks of one machine fill its memory together") {
    SyntheticRun made = program(0.5, 13, kFlat, 4);
    model::Process second = made.run.processes[0];
    second.pid = 200;
    made.run.processes.push_back(second);
    const std::vector<Finding> findings = made.diagnose("bandwidth-saturated");
    REQUIRE(findings.size() == 1);
    CHECK(number(findings[0], "thread_count") == 8);
    CHECK(real(findings[0], "traffic_bytes_per_second") == Approx(26e9));
}

TEST_CASE("on machines with more NUMA nodes the threads are spread first; OpenMP gets their number") {
    SyntheticRun made = program(0.5, 26, kFlat);
    for (int node = 0; node < 2; ++node) {
        model::NumaNode each;
        each.node = node;
        each.total_bytes = 1 << 30;
        made.run.hosts[0].nodes.push_back(each);
    }
    made.add_module("/usr/lib/libgomp.so.1", 0x600000, 0x700000);
    const Finding finding = made.diagnose("bandwidth-saturated").at(0);
    CHECK(number(finding, "used_memory_node_count") == 1);
    CHECK(number(finding, "memory_node_count") == 2);
    CHECK_THAT(finding.advice.at(0).what, Contains("all 2 NUMA nodes"));
    CHECK_THAT(finding.advice[0].command, Contains("--pin=scatter"));
    CHECK_THAT(finding.advice.at(1).command, Contains("OMP_NUM_THREADS=3"));
    // Where they use both nodes already, the number is given by node.
    for (model::BandwidthPoint& point : made.run.hosts[0].bandwidth_roofs[0].points)
        point.nodes = point.threads > 1 ? 2 : 1;
    CHECK_THAT(made.diagnose("bandwidth-saturated").at(0).advice.at(0).what, Contains("3 threads (2 a NUMA node)"));
}

TEST_CASE("a sample belongs to the innermost of nested loops") {
    SyntheticRun made = program(0.5, 26, kFlat);
    model::StreamingLoop outer = made.run.processes[0].streaming_loops[0];
    outer.begin = kLoop - 64;
    outer.bursts.clear();
    made.run.processes[0].streaming_loops.insert(made.run.processes[0].streaming_loops.begin(), outer);
    CHECK(made.diagnose("bandwidth-saturated").at(0).cost.fraction == Approx(0.5 * 5 / 8).epsilon(0.02));
}

TEST_CASE("the roof between the measured numbers of threads") {
    const model::BandwidthRoof flat = roof(kFlat);
    CHECK(roof_at(flat, 0.5) == Approx(5e9));
    CHECK(roof_at(flat, 1) == Approx(10e9));
    CHECK(roof_at(flat, 2.5) == Approx(22.5e9));
    CHECK(roof_at(flat, 20) == Approx(27e9));
    CHECK(roof_at({}, 2) == 0);
    CHECK(enough_threads(flat, 8) == 3);
    CHECK(enough_threads(flat, 3) == 3);
    CHECK(enough_threads(roof(kGrowing), 8) == 8);
}

TEST_CASE("the bandwidth is a metric where it could be measured") {
    const auto metric = [](SyntheticRun& made, const std::string& name) -> const std::optional<Metric> {
        model::CallPaths paths(made.run, made.resolver);
        for (const Metric& each : metrics_of(paths, analyses_of(paths)))
            if (each.name == name)
                return each;
        return std::nullopt;
    };
    SyntheticRun made = program(0.5, 26, kFlat);
    REQUIRE(metric(made, "memory bandwidth"));
    CHECK(metric(made, "memory bandwidth")->value == Approx(26e9));
    // Half of eight threads' 4 s, of which 4 s in the loop are half a second of all eight.
    CHECK(metric(made, "memory traffic")->value == Approx(26e9 / 8 * 16));
    CHECK(metric(made, "memory bandwidth")->unit == "bytes per second");
    CHECK(metric(made, "memory bandwidth share")->value == Approx(26.0 / 27));
    SyntheticRun not_timed = program(0.5, 26, {});
    CHECK(metric(not_timed, "memory bandwidth"));
    CHECK_FALSE(metric(not_timed, "memory bandwidth share"));
    SyntheticRun none = program(0.5, 26, kFlat);
    none.run.processes[0].streaming_loops.clear();
    CHECK_FALSE(metric(none, "memory bandwidth"));
}
