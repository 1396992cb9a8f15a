// Accesses that scatter over small pages: what the kernel's files say, how samples tell scattering from sweeping, what is
// written of a process, and what the diagnosis makes of it.
#include "fake_tree.h"
#include "platform/available_memory.h"
#include "platform/huge_pages.h"
#include "record/access/walks/access_burst.h"
#include "record/access/walks/page_scatter.h"
#include "record/calibrate/page_timing.h"
#include "synthetic_run.h"
#include "trace/file/records.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace plumb;
using namespace plumb::record;
using plumb::testing::SyntheticRun;
using Catch::Contains;

namespace {

constexpr uint64_t kMiB = 1 << 20, kPeriod_ns = 4'000'000;
constexpr uint64_t kArea = 0x7f0000000000, kAreaBytes = 512 * kMiB;

const char* const kSmaps = "00400000-00401000 r-xp 00000000 08:01 12 /bin/app\n"
                           "Size:                  4 kB\n"
                           "Rss:                   4 kB\n"
                           "AnonHugePages:         0 kB\n"
                           "THPeligible:           0\n"
                           "VmFlags: rd ex mr mw me\n"
                           "7f0000000000-7f0020000000 rw-p 00000000 00:00 0 \n"
                           "Size:             524288 kB\n"
                           "KernelPageSize:        4 kB\n"
                           "Rss:              524288 kB\n"
                           "AnonHugePages:    131072 kB\n"
                           "ShmemPmdMapped:        0 kB\n"
                           "FilePmdMapped:         0 kB\n"
                           "Shared_Hugetlb:        0 kB\n"
                           "Private_Hugetlb:       0 kB\n"
                           "THPeligible:           1\n"
                           "VmFlags: rd wr mr mw me ac hg\n"
                           "7f1000000000-7f1000400000 rw-s 00000000 00:0f 77 /anon_hugepage (deleted)\n"
                           "Rss:                   0 kB\n"
                           "KernelPageSize:     2048 kB\n"
                           "Shared_Hugetlb:     4096 kB\n"
                           "THPeligible:           0\n"
                           "VmFlags: rd wr sh mr mw me ht\n"
                           "7f2000000000-7f2000400000 rw-p 00000000 00:00 0 \n"
                           "Rss:                4096 kB\n"
                           "VmFlags: rd wr mr mw me nh\n";

class Random {
  public:
    uint64_t below(uint64_t most) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ % most;
    }

  private:
    uint64_t state_ = 88172645463325252;
};

// Samples at one instruction, of which each is where `place` of its number says.
template <class Place> std::vector<SampledPlace> places(size_t count, Place&& place) {
    std::vector<SampledPlace> samples;
    for (size_t i = 0; i < count; ++i)
        samples.push_back({place(i), i == 0 ? 0 : samples.back().address, i == 0 ? 0 : kPeriod_ns,
                           i == 0 ? 0 : samples.back().before});
    return samples;
}

} // namespace

TEST_CASE("huge pages as the kernel's files tell them") {
    const FakeTree machine;
    CHECK(platform::read_huge_page_settings(machine.root()).enabled.empty());
    const std::string folder = "sys/kernel/mm/transparent_hugepage/";
    machine.write(folder + "enabled", "always [madvise] never\n");
    machine.write(folder + "defrag", "always defer defer+madvise madvise [never]\n");
    machine.write(folder + "shmem_enabled", "odd\n");
    machine.write(folder + "hpage_pmd_size", "2097152\n");
    machine.write(folder + "khugepaged/pages_to_scan", "4096\n");
    machine.write(folder + "khugepaged/scan_sleep_millisecs", "10000\n");
    const auto settings = platform::read_huge_page_settings(machine.root());
    CHECK(settings.enabled == "madvise");
    CHECK(settings.defrag == "never");
    CHECK(settings.shared_enabled.empty());
    CHECK(settings.page_bytes == 2 * kMiB);
    CHECK(settings.scan_pages == 4096);
    CHECK(settings.scan_sleep_ms == 10000);

    machine.write("7/status", "Name:\tapp\nTHP_enabled:\t0\n");
    machine.write("8/status", "Name:\tapp\nTHP_enabled:\t1\n");
    CHECK(platform::refuses_huge_pages(machine.root(), 7));
    CHECK_FALSE(platform::refuses_huge_pages(machine.root(), 8));
    CHECK_FALSE(platform::refuses_huge_pages(machine.root(), 9));
}

TEST_CASE("the pages of each mapping") {
    const auto areas = platform::parse_smaps(kSmaps);
    REQUIRE(areas.size() == 4);
    CHECK(areas[0].mapping.path == "/bin/app");
    CHECK(areas[0].resident_bytes == 4096);
    CHECK(areas[0].huge_bytes == 0);
    CHECK(areas[1].mapping.start == kArea);
    CHECK(areas[1].resident_bytes == kAreaBytes);
    CHECK(areas[1].huge_bytes == kAreaBytes / 4);
    CHECK(areas[1].eligible);
    CHECK(areas[1].advised);
    CHECK(areas[2].resident_bytes == 4 * kMiB); // hugetlbfs: not in Rss
    CHECK(areas[2].huge_bytes == 4 * kMiB);
    CHECK(areas[3].forbidden);
    CHECK(platform::parse_smaps("").empty());
    CHECK(platform::parse_smaps("Rss: 4 kB\nnonsense\n\n").empty());
}

TEST_CASE("memory that may still be taken") {
    const FakeTree machine;
    CHECK(platform::available_memory(machine.root()) == 0);
    machine.write("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 4000000 kB\n");
    CHECK(platform::available_memory(machine.root()) == 4000000ull * 1024);
    machine.write("proc/self/cgroup", "0::/job/step\n");
    machine.write("sys/fs/cgroup/job/step/memory.max", "max\n");
    machine.write("sys/fs/cgroup/job/memory.max", "1000000000\n");
    machine.write("sys/fs/cgroup/job/memory.current", "400000000\n");
    CHECK(platform::available_memory(machine.root()) == 600000000);
    machine.write("sys/fs/cgroup/job/memory.current", "1400000000\n");
    CHECK(platform::available_memory(machine.root()) == 0);
}

TEST_CASE("random places scatter, sweeps and small or hot memory do not") {
    Random random;
    const auto anywhere = places(256, [&](size_t) { return kArea + random.below(kAreaBytes); });
    const Scatter scatter = scatter_of(anywhere, true);
    CHECK(scatter.scattered);
    CHECK(scatter.places == 256);
    CHECK(scatter.pages > 250);
    CHECK(scatter.footprint > kAreaBytes * 8 / 10);
    CHECK(scatter.footprint <= kAreaBytes);
    CHECK(scatter_of(anywhere, false).scattered);

    // A sweep of 1 to 20 GB/s, whose speed wanders by 10 %, forwards and backwards.
    for (const uint64_t speed : {1, 4, 10, 20})
        for (const bool backwards : {false, true}) {
            uint64_t at = 0;
            const auto swept = places(256, [&](size_t) {
                at = (at + speed * kPeriod_ns * (90 + random.below(20)) / 100) % kAreaBytes;
                return kArea + (backwards ? kAreaBytes - at : at);
            });
            CHECK_FALSE(scatter_of(swept, true).scattered);
        }
    // To and fro.
    const auto turned = places(256, [&](size_t i) {
        const uint64_t at = i * 10 * kPeriod_ns % (2 * kAreaBytes);
        return kArea + (at < kAreaBytes ? at : 2 * kAreaBytes - at);
    });
    CHECK_FALSE(scatter_of(turned, true).scattered);
    // Anywhere within 64 MiB that move on: as a thread does in its part, or a search in what is latest.
    const auto near = places(256, [&](size_t i) {
        return kArea + i * (kAreaBytes - 64 * kMiB) / 256 + random.below(64 * kMiB);
    });
    CHECK(scatter_of(near, true).scattered);
    CHECK(scatter_of(near, true).footprint == Approx(64 * kMiB).epsilon(0.25));
    const auto nearer = places(256, [&](size_t i) {
        return kArea + i * (kAreaBytes - 16 * kMiB) / 256 + random.below(16 * kMiB);
    });
    CHECK_FALSE(scatter_of(nearer, true).scattered);

    CHECK_FALSE(scatter_of(places(256, [&](size_t) { return kArea + random.below(16 * kMiB); }), true).scattered);
    CHECK_FALSE(scatter_of(places(256, [&](size_t) { return kArea; }), true).scattered);
    CHECK_FALSE(scatter_of({}, true).scattered);
    // Nine of ten accesses go to 2 MiB of it.
    const Scatter hot = scatter_of(places(256, [&](size_t i) {
                                       return kArea + (i % 10 == 0 ? random.below(kAreaBytes) : random.below(2 * kMiB));
                                   }), true);
    CHECK_FALSE(hot.scattered);
    CHECK(hot.footprint < 4 * kMiB);
    // What cannot be followed may have swept over so little memory several times between two samples.
    const auto less = places(256, [&](size_t) { return kArea + random.below(64 * kMiB); });
    CHECK(scatter_of(less, true).scattered);
    CHECK_FALSE(scatter_of(less, false).scattered);
}

namespace {

struct Recorded {
    std::vector<trace::PageScatter> scatters;
    std::vector<trace::HugePages> settings;
    std::vector<std::string> evidence;
};

Recorded written(PageScatter& scatter) {
    const FakeTree folder;
    const std::string path = folder.root() + "/node.plumb";
    NodeTraceWriter file(path, 1 << 20, 1 << 20);
    scatter.write(file, 1);
    file.close();
    Recorded recorded;
    trace::TraceReader reader(path);
    trace::for_each_record(
        reader, trace::Overloaded{[&](const trace::PageScatter& record) { recorded.scatters.push_back(record); },
                                  [&](const trace::HugePages& record) { recorded.settings.push_back(record); },
                                  [&](const trace::Evidence&) { recorded.evidence.push_back("said"); }});
    return recorded;
}

SampledAccess access_at(uint64_t address, uint64_t number) {
    SampledAccess access;
    access.pid = 100;
    access.tid = 101;
    access.time_ns = 1'000'000'000 + number * kPeriod_ns;
    access.weight_ns = kPeriod_ns;
    access.instruction = 0x400100;
    access.address = address;
    access.width = 8;
    access.flags = trace::kAlignLoad;
    access.in_loop = true;
    return access;
}

} // namespace

TEST_CASE("what is written of a process whose accesses scatter") {
    const FakeTree proc;
    proc.write("100/smaps", kSmaps);
    proc.write("100/statm", "200000 131072 0 0 0 0 0\n");
    Random random;
    PageScatter scatter(proc.root(), [](const WatchedAccess&) { return nullptr; }); // that thread is none of ours
    uint64_t number = 0;
    const auto sample = [&](int count, bool known_step) {
        for (int i = 0; i < count; ++i, ++number) {
            SampledAccess access = access_at(kArea + random.below(kAreaBytes / 8), number);
            if (known_step)
                access.move = LoopMove{};
            scatter.take(access);
        }
    };
    SECTION("its pages were looked at") {
        sample(200, false);
        scatter.look(access_at(0, number).time_ns);   // too early: looking takes time of the program's
        scatter.look(access_at(0, 10000).time_ns);
        sample(200, false);
        const Recorded recorded = written(scatter);
        REQUIRE(recorded.scatters.size() == 1);
        const trace::PageScatter& one = recorded.scatters[0];
        CHECK(one.pid == 100);
        CHECK(one.address == 0x400100);
        CHECK(one.form == trace::kScatterGather);
        CHECK(one.samples == Approx(400).margin(1));
        CHECK(one.time_ns == Approx(400 * kPeriod_ns).epsilon(0.01));
        CHECK(one.small_ns == Approx(300 * kPeriod_ns).epsilon(0.01)); // a quarter lies on huge pages
        CHECK(one.area_start == kArea);
        CHECK(one.area_end == kArea + kAreaBytes);
        CHECK(one.page_flags == (trace::kPagesEligible | trace::kPagesAdvised));
        CHECK(one.looks == 1);
        CHECK(one.lowest_address >= kArea);
        CHECK(one.highest_address < kArea + kAreaBytes / 8);
        CHECK(one.timed_bytes <= one.footprint_bytes);
        if (one.timed_bytes)
            CHECK(one.small_ps > 0);
        CHECK(recorded.settings.size() == 1);
        CHECK(recorded.evidence.empty());
    }
    SECTION("it ended before") {
        sample(200, false);
        scatter.forget(100);
        const Recorded recorded = written(scatter);
        CHECK(recorded.scatters.empty());
        CHECK(recorded.evidence.size() == 1);
    }
    SECTION("the registers tell the steps") {
        sample(200, true);
        scatter.look(access_at(0, 10000).time_ns);
        const Recorded recorded = written(scatter);
        CHECK(recorded.scatters.empty());
        CHECK(recorded.settings.empty());
        CHECK(recorded.evidence.empty());
    }
    SECTION("it is on huge pages") {
        std::string smaps = kSmaps;
        smaps.replace(smaps.find("131072 kB"), 9, "524288 kB");
        proc.write("100/smaps", smaps);
        sample(200, false);
        scatter.look(access_at(0, 10000).time_ns);
        CHECK(written(scatter).scatters.empty());
    }
}

namespace {

class FixedBurst : public AccessBurst {
  public:
    explicit FixedBurst(std::vector<uint64_t> addresses) : addresses_(std::move(addresses)) {}
    const std::vector<uint64_t>& addresses() override { return addresses_; }

  private:
    const std::vector<uint64_t> addresses_;
};

} // namespace

TEST_CASE("blocks that lie anywhere are no scatter when each is gone through in order") {
    const FakeTree proc;
    proc.write("100/smaps", kSmaps);
    proc.write("100/statm", "200000 131072 0 0 0 0 0\n");
    Random random;
    const bool blocks = GENERATE(true, false);
    std::vector<WatchedAccess> asked;
    std::vector<uint64_t> seen; // blocks of 2 KiB, or single words, anywhere
    for (uint64_t i = 0, block = 0; i < AccessBurst::kRounds; ++i) {
        block = i % 256 == 40 || i == 0 ? kArea + random.below(kAreaBytes / 4096) * 4096 : block;
        seen.push_back(blocks ? block + i % 256 * 8 : kArea + random.below(kAreaBytes));
    }
    PageScatter scatter(proc.root(), [&](const WatchedAccess& access) {
        asked.push_back(access);
        return std::make_unique<FixedBurst>(seen);
    });
    uint64_t number = 0;
    for (; number < 200; ++number) {
        SampledAccess access = access_at(kArea + random.below(kAreaBytes / 8), number);
        access.length = 5;
        scatter.take(access);
    }
    scatter.look(access_at(0, 10000).time_ns);
    scatter.look(access_at(0, 10001).time_ns);
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].tid == 101);
    CHECK(asked[0].instruction == 0x400100);
    CHECK(asked[0].length == 5);
    const Recorded recorded = written(scatter);
    REQUIRE(recorded.scatters.size() == (blocks ? 0 : 1));
    if (!blocks) {
        CHECK(recorded.scatters[0].watched == AccessBurst::kRounds - 1);
        CHECK(recorded.scatters[0].new_pages > AccessBurst::kRounds * 9 / 10);
    }
}

TEST_CASE("accesses that cannot be watched are tried again, and then taken for what samples say") {
    const FakeTree proc;
    proc.write("100/smaps", kSmaps);
    proc.write("100/statm", "200000 131072 0 0 0 0 0\n");
    Random random;
    int asked = 0;
    PageScatter scatter(proc.root(), [&](const WatchedAccess&) {
        ++asked;
        return nullptr;
    });
    for (uint64_t number = 0; number < 200; ++number)
        scatter.take(access_at(kArea + random.below(kAreaBytes / 8), number));
    for (uint64_t look = 0; look < 20; ++look)
        scatter.look(access_at(0, 10000 + look).time_ns);
    CHECK(asked >= 1);
    CHECK(asked <= 4);
    const Recorded recorded = written(scatter);
    REQUIRE(recorded.scatters.size() == 1);
    CHECK(recorded.scatters[0].watched == 0);
}

TEST_CASE("how many of accesses that follow one another need another page") {
    std::vector<uint64_t> sweep, columns, alternating;
    for (uint64_t i = 0; i < 64; ++i) {
        sweep.push_back(kArea + i * 64);
        columns.push_back(kArea + i * 3 * 4096);
        alternating.push_back(kArea + i % 2 * 64 * 4096 + i * 8);
    }
    CHECK(new_page_fraction(sweep) == 0);
    CHECK(new_page_fraction(columns) == 1);
    CHECK(new_page_fraction(alternating) == Approx(1.0 / 63)); // two places in turn
    CHECK(new_page_fraction({}) == 0);
    CHECK(new_page_fraction({kArea}) == 0);
}

TEST_CASE("the accesses of a running thread are watched, one after another") {
    const char* why = nullptr;
    if (!shim::load_decoder(&why))
        return;
    static uint64_t words[64];
    // Its one load goes to the next word in each round; what the compiler makes of it is decoded here.
    std::atomic<pid_t> tid = 0;
    std::atomic<bool> stop = false;
    std::atomic<uint64_t> instruction = 0;
    std::thread runner([&] {
        tid = static_cast<pid_t>(syscall(SYS_gettid));
        const uint64_t* at = words;
        while (!stop) {
            uint64_t place = 0, value = 0;
            asm volatile("leaq 1f(%%rip), %0\n1:\tmovq (%2), %1" : "=&r"(place), "=r"(value) : "a"(at));
            instruction = place;
            at = at + 1 == words + 64 ? words : at + 1;
        }
    });
    while (instruction == 0)
        std::this_thread::yield();
    shim::MemoryInstruction decoded;
    REQUIRE(shim::decode_memory_instruction(reinterpret_cast<const uint8_t*>(instruction.load()), 16, &decoded));
    REQUIRE(decoded.operand_count == 1);
    auto burst = start_burst({static_cast<uint32_t>(tid.load()), instruction, decoded.length, decoded.operands[0]});
    for (int i = 0; burst && i < 500 && burst->addresses().size() < AccessBurst::kRounds; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop = true;
    runner.join();
    if (!burst) {
        WARN("breakpoints are not available here");
        return;
    }
    const std::vector<uint64_t>& addresses = burst->addresses();
    REQUIRE(addresses.size() >= AccessBurst::kRounds);
    CHECK(addresses.size() < 2 * AccessBurst::kRounds); // the kernel took it off
    const auto first = reinterpret_cast<uint64_t>(words);
    for (size_t i = 1; i < addresses.size(); ++i)
        CHECK(addresses[i] == (addresses[i - 1] + 8 == first + sizeof words ? first : addresses[i - 1] + 8));
}

TEST_CASE("accesses of both kinds of pages are timed, or it is said why not") {
    for (const bool chases : {false, true}) {
        const PageTime time = time_pages({48 * kMiB, chases, true, false}, 128 * kMiB);
        if (time.small_ps == 0 || time.huge_ps == 0)
            CHECK_FALSE(time.why_not.empty());
        else
            CHECK(time.span == 48 * kMiB);
    }
    const PageTime none = time_pages({48 * kMiB, false, true, false}, 1 * kMiB);
    CHECK(none.span == 0);
    CHECK(none.small_ps == 0);
    CHECK_FALSE(none.why_not.empty());
}

namespace {

constexpr uint64_t kLoop = 0x400200, kOther = 0x400300, kTable = 0x420000;

int64_t number(const Finding& finding, const char* key) { return std::get<int64_t>(finding.evidence.at(key)); }
std::string text(const Finding& finding, const char* key) { return std::get<std::string>(finding.evidence.at(key)); }

// 4 s of one thread, of which samples saw half in accesses all over a variable, which take 10 ns each.
SyntheticRun program(double huge_page_ns) {
    SyntheticRun made(4, 2);
    made.add_thread(0, 1, 0);
    made.name(kLoop, "force", "app", "/src/app.c", 20);
    made.name(kOther, "main", "app", "/src/app.c", 5);
    made.add_samples(0, made.add_path({kLoop}), 2000);
    made.add_samples(0, made.add_path({kOther}), 2000);
    model::PageScatter scatter;
    scatter.address = kLoop;
    scatter.kind.width = 8;
    scatter.kind.load = true;
    scatter.area = {.start = kTable, .end = kTable + kAreaBytes, .writable = true, .path = ""};
    scatter.samples = 2000;
    scatter.time_ns = scatter.small_ns = 2'000'000'000;
    scatter.places = 256;
    scatter.pages = 256;
    scatter.last_address = kTable + 64;
    scatter.footprint_bytes = scatter.resident_bytes = scatter.timed_bytes = kAreaBytes;
    scatter.small_page_ns = 10;
    scatter.huge_page_ns = huge_page_ns;
    scatter.last_ns = UINT64_MAX / 2;
    made.run.processes[0].page_scatters.push_back(scatter);
    made.run.hosts[0].huge_pages = {"madvise", "madvise", "never", 2 * kMiB, 4096, 10000};
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        if (address < kTable || address >= kTable + kAreaBytes)
            return std::nullopt;
        model::DataName name;
        name.name = "molecules";
        name.size = kAreaBytes;
        name.offset = address - kTable;
        return name;
    };
    made.finish();
    return made;
}

model::PageScatter& scatter_in(SyntheticRun& made) { return made.run.processes[0].page_scatters[0]; }

} // namespace

TEST_CASE("the array, the line, the reason and what huge pages gain") {
    SyntheticRun made = program(6);
    const std::vector<Finding> findings = made.diagnose("page-size");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.subject.kind == "variable");
    CHECK(finding.subject.name == "molecules");
    REQUIRE_FALSE(finding.where.empty());
    CHECK(finding.where[0].line == 20);
    CHECK(finding.cost.fraction == Approx(0.2)); // half of the run, of which four tenths
    CHECK(finding.gain.fraction == Approx(0.2));
    CHECK(finding.cost.how == "estimated");
    CHECK(finding.severity == Severity::high);
    CHECK(number(finding, "footprint_bytes") == kAreaBytes);
    CHECK(std::get<double>(finding.evidence.at("huge_page_fraction")) == Approx(0));
    CHECK_THAT(finding.title, Contains("`molecules` scatter over 512 MiB on small pages"));
    CHECK_THAT(text(finding, "why_small"), Contains("set to madvise") && Contains("did not request"));
    CHECK_THAT(finding.advice.at(0).what, Contains("Ask for huge pages")); // a variable comes from no allocator
}

TEST_CASE("what huge pages take longer to be touched first is no gain") {
    SyntheticRun made = program(6);
    auto& scatters = made.run.processes[0].page_scatters;
    scatters[0].small_touch_ns = 0.5e6; // 256 huge pages: 0.256 s of 4 s
    scatters[0].huge_touch_ns = 1.5e6;
    Finding finding = made.diagnose("page-size").at(0);
    CHECK(finding.cost.fraction == Approx(0.2));
    CHECK(finding.gain.fraction == Approx(0.2 - 0.064));
    CHECK_THAT(finding.gain.how, Contains("less 256 ms") && Contains("1.5 ms each") && Contains("0.5 ms"));

    scatters.push_back(scatters[0]); // another instruction in the same area, which is touched once
    finding = made.diagnose("page-size").at(0);
    CHECK(finding.gain.fraction == Approx(0.4 - 0.064));
    scatters.pop_back();

    scatters[0].huge_touch_ns = 6e6; // 1.4 s
    CHECK(made.diagnose("page-size").at(0).gain.fraction == 0);
    scatters[0].huge_touch_ns = 0.1e6; // faster: that is not what the accesses gain
    CHECK(made.diagnose("page-size").at(0).gain.fraction == Approx(0.2));
}

TEST_CASE("of memory from malloc the launch line comes first") {
    SyntheticRun made = program(6);
    made.resolver.data = nullptr;
    made.run.processes[0].memory.blocks.push_back(
        {.start = kTable, .bytes = kAreaBytes, .path = made.run.processes[0].samples[1].path, .by_allocator = true});
    std::vector<Finding> findings = made.diagnose("page-size");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.kind == "allocation");
    CHECK(findings[0].subject.name == "/src/app.c:5");
    CHECK(findings[0].advice.at(0).applies == "launch");
    CHECK(findings[0].advice.at(0).command ==
          "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run -- ./app 'big file'");
    made.run.processes[0].memory.blocks[0].by_allocator = false; // the program mapped it
    CHECK(made.diagnose("page-size").at(0).advice.at(0).applies == "code");
}

TEST_CASE("why the pages are small") {
    SyntheticRun made = program(6);
    const auto why = [&] { return text(made.diagnose("page-size").at(0), "why_small"); };
    model::HugePages& settings = made.run.hosts[0].huge_pages;
    model::PageScatter& scatter = scatter_in(made);
    scatter.eligible = scatter.advised = true;
    scatter.huge_bytes = kAreaBytes / 2;
    scatter.small_ns /= 2;
    CHECK_THAT(why(), Contains("only 50 % of the memory had them") && Contains("khugepaged"));
    CHECK_THAT(made.diagnose("page-size").at(0).title, Contains("512 MiB, 50 % of them on small pages"));
    scatter.eligible = scatter.advised = false;
    settings.enabled = "never";
    CHECK_THAT(why(), Contains("switched off on this machine"));
    CHECK(made.diagnose("page-size").at(0).advice.at(0).applies == "system");
    settings.enabled = "";
    CHECK_THAT(why(), Contains("built without"));
    settings.enabled = "always";
    scatter.refused = true;
    CHECK_THAT(why(), Contains("PR_SET_THP_DISABLE"));
    scatter.refused = false;
    scatter.forbidden = true;
    CHECK_THAT(why(), Contains("MADV_NOHUGEPAGE"));
    scatter.forbidden = false;
    scatter.area.file = true;
    scatter.area.path = "/data/table.bin";
    CHECK_THAT(why(), Contains("mapping of a file"));
    scatter.area.path = "/dev/shm/table";
    CHECK_THAT(why(), Contains("shared memory") && Contains("never"));
}

TEST_CASE("where no huge pages were available the cost is a bound and the gain is not reported") {
    SyntheticRun made = program(0);
    scatter_in(made).why_not_timed = "transparent huge pages are set to never";
    const std::vector<Finding> findings = made.diagnose("page-size");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.how == "bound");
    CHECK(findings[0].cost.fraction == Approx(0.5));
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].gain.fraction == 0);
    CHECK_THAT(findings[0].gain.how, Contains("not known") && Contains("never"));
}

TEST_CASE("no finding where huge pages gain nothing or the accesses matter little") {
    CHECK(program(9.8).diagnose("page-size").empty());
    SyntheticRun little = program(6);
    scatter_in(little).small_ns = 20'000'000;
    CHECK(little.diagnose("page-size").empty());
    SyntheticRun none = program(6);
    none.run.processes[0].page_scatters.clear();
    CHECK(none.diagnose("page-size").empty());
}
