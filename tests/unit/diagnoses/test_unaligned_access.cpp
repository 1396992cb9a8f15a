// Unaligned accesses on made-up runs: grouping by data object, cost by counts and by samples, what is reported as info.
#include "analyses/accesses/unaligned_lines.h"
#include "synthetic_run.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;
using Catch::Contains;

namespace {

constexpr uint64_t kMain = 0x400100, kSweep = 0x400200, kOther = 0x400300;
constexpr uint64_t kPair = 0x600000; // the common block
constexpr model::AccessKind kLoad8{.width = 8, .load = true}, kStore8{.width = 8, .store = true};
constexpr model::AccessKind kLocked{.width = 8, .load = true, .store = true, .locked = true};

// One thread that is busy for the whole ten seconds; a real*8 array 4 bytes into /pair/.
SyntheticRun program(double seconds = 10) {
    SyntheticRun made(seconds, 2);
    made.add_thread(0, 1, 0);
    made.name(kMain, "main", "app", "/src/main.f90", 10);
    made.name(kSweep, "sweep", "app", "/src/sweep.f90", 20);
    made.name(kOther, "other", "app", "/src/sweep.f90", 30);
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        if (address < kPair || address >= kPair + 0x100000)
            return {};
        model::DataName name;
        name.kind = model::DataName::Kind::common_block;
        name.name = "/pair/";
        name.member = address < kPair + 4 ? "n" : "x(" + std::to_string((address - kPair - 4) / 8 + 1) + ")";
        name.offset = address - kPair;
        name.member_offset = address < kPair + 4 ? 0 : 4;
        name.member_alignment = address < kPair + 4 ? 4 : 8;
        return name;
    };
    made.set_penalties();
    made.finish();
    return made;
}

int64_t count(const Finding& finding, const char* key) { return std::get<int64_t>(finding.evidence.at(key)); }
double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

UnalignedAccesses accesses_of(SyntheticRun& made) {
    model::CallPaths paths(made.run, made.resolver);
    return unaligned_accesses_of(paths);
}

} // namespace

TEST_CASE("unnamed data inside code that has no lines, and is not the program, is nobody's to change") {
    constexpr uint64_t kInside = 0x7f0000001000, kUnnamed = 0x900001;
    SyntheticRun made = program();
    made.name(kInside, "move", "libruntime.so");
    made.add_unaligned(kInside, kLoad8, kUnnamed, 4096, 8);
    CHECK(made.diagnose("unaligned-access").empty());
    SyntheticRun own = program();
    own.add_unaligned(kOther, kLoad8, kUnnamed, 4096, 8);
    CHECK(own.diagnose("unaligned-access").size() == 1);
}

TEST_CASE("cheap unaligned accesses to a common block are info, named exactly") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kLoad8, kPair + 4, 4096, 8);
    made.add_unaligned(kSweep + 4, kStore8, kPair + 4, 4096, 8);
    made.resolver.frames[kSweep + 4] = made.resolver.frames[kSweep];
    const std::vector<Finding> findings = made.diagnose("unaligned-access");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.severity == Severity::info);
    CHECK(finding.subject.kind == "variable");
    CHECK(finding.subject.name == "/pair/");
    CHECK(std::get<std::vector<std::string>>(finding.subject.details.at("members")) == std::vector<std::string>{"x"});
    CHECK(count(finding, "unaligned_count") == 8192);
    CHECK(count(finding, "line_crossing_count") == 1024); // every eighth
    CHECK(count(finding, "page_crossing_count") == 16);   // every 512th
    CHECK(std::get<std::string>(finding.evidence.at("cause")) == "common block order");
    CHECK(std::get<bool>(finding.evidence.at("counted_exactly")));
    REQUIRE(finding.where.size() == 1);
    CHECK(finding.where[0].file == "/src/sweep.f90");
    CHECK(finding.where[0].line == 20);
    CHECK_THAT(finding.title, Contains("/pair/ member x ") && Contains("offset 4"));
    // 504 x 1 ns + 8 x 10 ns of loads, 504 x 2 ns + 8 x 20 ns of stores
    CHECK(finding.cost.seconds == Approx(1752e-9));
    CHECK(finding.cost.how == "estimated");
    CHECK(made.diagnose("line-split-access").empty());
    CHECK(made.diagnose("split-lock").empty());
}

TEST_CASE("costly crossings are reported once, by line-split-access") {
    SyntheticRun made = program();
    model::UnalignedSite& site = made.add_unaligned(kSweep, kStore8, kPair + 4, 512, 8);
    site.hits *= 1'000'000; // 64 M lines, 1 M pages: 63 M x 2 ns + 1 M x 20 ns = 0.146 s
    site.page_crossings *= 1'000'000;
    for (uint64_t& residue : site.residues)
        residue *= 1'000'000;
    const std::vector<Finding> crossing = made.diagnose("line-split-access");
    REQUIRE(crossing.size() == 1);
    CHECK(crossing[0].cost.seconds == Approx(0.146));
    CHECK(crossing[0].cost.fraction == Approx(0.0146));
    CHECK(crossing[0].severity == Severity::info); // an estimate of accesses timed alone, not in the program
    CHECK_THAT(crossing[0].title, Contains("12 % of the 8-byte stores to common block /pair/"));
    CHECK(number(crossing[0], "page_crossing_cost_fraction") == Approx(0.02 / 0.146));
    CHECK(crossing[0].subject.name == "/pair/");
    const std::vector<Finding> plain = made.diagnose("unaligned-access");
    REQUIRE(plain.size() == 1);
    CHECK(plain[0].severity == Severity::info);
    CHECK(plain[0].cost.seconds == 0);
}

TEST_CASE("a line cannot have lost more time than samples saw there") {
    SyntheticRun made = program();
    model::UnalignedSite& site = made.add_unaligned(kSweep, kStore8, kPair + 4, 512, 8);
    site.hits *= 1'000'000'000; // would have cost 146 s of the 10
    site.page_crossings *= 1'000'000'000;
    for (uint64_t& residue : site.residues)
        residue *= 1'000'000'000;
    made.add_samples(0, made.add_path({kMain, kSweep}), 400);
    made.add_samples(0, made.add_path({kMain, kOther}), 9600);
    const std::vector<Finding> findings = made.diagnose("line-split-access");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(0.443)); // 400 + 2 sqrt(400) + 3 samples of 1 ms
    CHECK(findings[0].cost.how == "bound");
}

TEST_CASE("find mode: lower bounds are raised by the time samples at the instruction") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kStore8, kPair + 4, 512, 8, false);
    const AccessCost counted = accesses_of(made).lines.at(0).cost;
    CHECK(counted.how == AccessCost::How::bound);
    CHECK(counted.total_s() == Approx(146e-9));
    // 512 accesses take 512 + 146 ns here, so 146 / 658 of the time at the instruction and behind it is the penalty's.
    made.add_samples(0, made.add_path({kMain, kSweep}), 1000);
    made.add_samples(0, made.add_path({kMain, kSweep + 4}), 1000);
    made.resolver.frames[kSweep + 4] = made.resolver.frames[kSweep];
    const AccessCost sampled = accesses_of(made).lines.at(0).cost;
    CHECK(sampled.how == AccessCost::How::estimated);
    CHECK(sampled.total_s() == Approx(2.0 * 146 / 658));
    CHECK(sampled.page_s == Approx(2.0 * 20 / 658));
}

TEST_CASE("find mode: address sampling says how much of the time crossing accesses took") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kStore8, kPair + 4, 64, 8, false); // too few to tell shares
    model::SampledAccess access;
    access.address = kSweep;
    access.kind = kStore8;
    access.samples = 1000;
    access.time_ns = 1'000'000'000;
    access.unaligned = 900;
    access.line_crossings = 220;
    access.page_crossings = 20;
    made.run.processes[0].sampled_accesses.push_back(access);
    made.add_samples(0, made.add_path({kMain, kSweep}), 1000);
    SECTION("as it is, when no larger than a sweep's") {
        const AccessLine line = accesses_of(made).lines.at(0);
        CHECK(line.cost.line_s == Approx(0.2 * 2 / 3)); // 200 ms in accesses of 3 ns, 2 of them for the crossing
        CHECK(line.cost.page_s == Approx(0.02 * 20 / 21));
        CHECK(line.samples == 1000);
    }
    SECTION("a larger share waits for memory, as an aligned sweep would") {
        made.run.processes[0].sampled_accesses[0].line_crossings = 820;
        // One access of 8 takes 3 ns, 7 take 1 ns: 3 / 10 of the time, of which 2 / 3 are for the crossing.
        CHECK(accesses_of(made).lines.at(0).cost.line_s == Approx(0.2));
    }
    SECTION("unless nothing but crossings was seen") {
        made.run.processes[0].sampled_accesses[0].line_crossings = 1000;
        made.run.processes[0].sampled_accesses[0].page_crossings = 0;
        CHECK(accesses_of(made).lines.at(0).cost.line_s == Approx(2.0 / 3));
    }
}

TEST_CASE("a crossing costs less where its neighbours cross nothing") {
    SyntheticRun made = program();
    made.run.hosts[0].access_penalties->store.sweep_line_ns = 0.5;
    SECTION("one in eight: as in a sweep") {
        made.add_unaligned(kSweep, kStore8, kPair + 4, 512, 8);
        CHECK(accesses_of(made).lines.at(0).cost.line_s == Approx(63 * 0.5e-9));
    }
    SECTION("all of them: as in a loop of crossings") {
        made.add_unaligned(kSweep, kStore8, kPair + 60, 512, 4096);
        CHECK(accesses_of(made).lines.at(0).cost.line_s == Approx(512 * 2e-9));
    }
}

TEST_CASE("find mode: enough caught accesses tell the share that crosses, samples tell the time") {
    SyntheticRun made = program();
    model::UnalignedSite& site = made.add_unaligned(kSweep, kStore8, kPair + 4, 512, 8, false);
    model::SampledAccess access;
    access.address = kSweep;
    access.kind = kStore8;
    access.samples = access.unaligned = 1000;
    access.time_ns = 1'000'000'000;
    access.line_crossings = 900; // they wait for memory
    made.run.processes[0].sampled_accesses.push_back(access);
    made.add_samples(0, made.add_path({kMain, kSweep}), 1000);
    CHECK(accesses_of(made).lines.at(0).cost.total_s() == Approx(146.0 / 658));
    site.page_crossings = 0; // 1 of 64 line crossings is expected: none is no better known
    CHECK(accesses_of(made).lines.at(0).cost.total_s() == Approx(146.0 / 658));
}

TEST_CASE("vector accesses that cross lines are seen by address sampling alone") {
    SyntheticRun made = program();
    model::SampledAccess access;
    access.address = kSweep;
    access.kind = {.width = 16, .load = true, .packed = true};
    access.samples = 1000;
    access.time_ns = 1'000'000'000;
    access.unaligned = 1000;
    access.line_crossings = 250;
    access.last_address = kPair + 12;
    made.run.processes[0].sampled_accesses.push_back(access);
    made.add_samples(0, made.add_path({kMain, kSweep}), 1000);
    const std::vector<Finding> findings = made.diagnose("line-split-access");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(0.125)); // half of 250 ms
    CHECK(findings[0].subject.name == "/pair/");
    CHECK_THAT(findings[0].title, Contains("25 %") && Contains("by address sampling") && Contains("16-byte vector loads"));
    CHECK(std::get<std::vector<std::string>>(findings[0].evidence.at("seen_by")) ==
          std::vector<std::string>{"address sampling"});
    CHECK(made.diagnose("unaligned-access").empty()); // packed accesses need no natural alignment
    SECTION("not when hardly any cross") {
        made.run.processes[0].sampled_accesses[0].line_crossings = 4;
        CHECK(made.diagnose("line-split-access").empty());
    }
    SECTION("not in the C library") {
        made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
        made.run.processes[0].sampled_accesses[0].address = 0x7f0000000100;
        CHECK(accesses_of(made).lines.empty());
    }
}

TEST_CASE("one finding for each object: lines of two arrays, nameless memory by line") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kLoad8, kPair + 4, 100, 8);
    made.add_unaligned(kOther, kLoad8, kPair + 12, 300, 8);
    model::UnalignedSite& heap = made.add_unaligned(kMain, kLoad8, 0x900003, 50, 8);
    heap.addresses[0].block = model::UnalignedAddress::Block::heap;
    heap.addresses[0].block_start = 0x900000;
    heap.addresses[0].block_bytes = 4000;
    heap.addresses[0].block_path = made.add_path({kMain}, false);
    made.add_unaligned(kMain + 8, kLoad8, 0xa00001, 20, 8);
    made.name(kMain + 8, "main", "app", "/src/main.f90", 11);
    const std::vector<Finding> findings = made.diagnose("unaligned-access");
    REQUIRE(findings.size() == 3);
    const auto named = [&](const std::string& kind) {
        const auto found = std::find_if(findings.begin(), findings.end(),
                                        [&](const Finding& finding) { return finding.subject.kind == kind; });
        REQUIRE(found != findings.end());
        return *found;
    };
    CHECK(named("variable").subject.name == "/pair/");
    REQUIRE(named("variable").where.size() == 2);
    CHECK(named("variable").where[0].line == 30); // three times as many
    CHECK(count(named("variable"), "unaligned_count") == 400);
    CHECK(named("allocation").subject.name == "/src/main.f90:10");
    CHECK(std::get<std::string>(named("allocation").evidence.at("cause")) == "odd offset");
    CHECK(named("call-site").subject.name == "/src/main.f90:11");
}

TEST_CASE("a structure in a heap block, by type") {
    SyntheticRun made = program();
    made.resolver.pointed = [](uint64_t address) -> std::optional<model::DataName> {
        model::DataName name;
        name.kind = model::DataName::Kind::pointed_structure;
        name.name = "struct record";
        name.member = "weight";
        name.offset = (address - 0x900000) % 13;
        name.member_offset = 5;
        name.member_alignment = 8;
        name.packed = true;
        return name;
    };
    model::UnalignedSite& heap = made.add_unaligned(kMain, kLoad8, 0x900005, 1000, 13);
    heap.addresses[0].block = model::UnalignedAddress::Block::heap;
    heap.addresses[0].block_start = 0x900000;
    heap.addresses[0].block_path = made.add_path({kMain}, false);
    const std::vector<Finding> findings = made.diagnose("unaligned-access");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.kind == "allocation");
    CHECK(std::get<std::string>(findings[0].subject.details.at("structure")) == "struct record");
    CHECK(std::get<std::string>(findings[0].evidence.at("cause")) == "packed structure");
    CHECK_THAT(findings[0].title, Contains("member weight (offset 5)"));
}

TEST_CASE("split locks: by what they cost, with their number and the kernel's setting") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kLocked, kPair + 60, 4000, 64);
    std::vector<Finding> findings = made.diagnose("split-lock");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::medium); // 0.4 s of 10 s
    CHECK(findings[0].cost.seconds == Approx(0.4));
    CHECK(findings[0].cost.how == "measured");
    CHECK(count(findings[0], "split_lock_count") == 4000);
    CHECK(number(findings[0], "split_locks_per_second") == Approx(400));
    CHECK(std::get<std::string>(findings[0].evidence.at("kernel_setting")) == "split_lock_mitigate = 1");
    CHECK_THAT(std::get<std::string>(findings[0].evidence.at("other_jobs")), Contains("traps each one"));
    CHECK(made.diagnose("unaligned-access").empty());
    SECTION("rare ones by their cost") {
        made.run.processes[0].alignment.sites.clear();
        made.add_unaligned(kSweep, kLocked, kPair + 60, 200, 64);
        findings = made.diagnose("split-lock");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info); // 20 ms, but only 0.2 % of the run
    }
    SECTION("a bus lock halts the others") {
        made.run.hosts[0].access_penalties->split_lock_ns = 1000;
        findings = made.diagnose("split-lock");
        CHECK_THAT(std::get<std::string>(findings[0].evidence.at("other_jobs")), Contains("<0.1 % of the run"));
        CHECK(findings[0].severity == Severity::info); // 4 ms
    }
    SECTION("locked accesses inside a line are none") {
        made.run.processes[0].alignment.sites.clear();
        made.add_unaligned(kSweep, kLocked, kPair + 4, 4000, 64);
        CHECK(made.diagnose("split-lock").empty());
        CHECK(made.diagnose("unaligned-access").empty());
    }
    SECTION("the time at the line bounds the number from above: what was caught and what is estimated are told apart") {
        made.run.processes[0].alignment.sites.clear();
        made.add_unaligned(kSweep, kLocked, kPair + 60, 50, 64, false);
        made.add_samples(0, made.add_path({kMain, kSweep}), 5000);
        findings = made.diagnose("split-lock");
        REQUIRE(findings.size() == 1);
        CHECK(count(findings[0], "split_lock_count") == 50);
        CHECK(count(findings[0], "split_lock_estimate_most_count") == Approx(50'000).epsilon(0.01));
        CHECK_THAT(findings[0].title, Contains("50 split locks caught, at most 50,000 in all (estimated)"));
    }
}

TEST_CASE("without measured penalties nothing is priced; a handful of find hits is no finding") {
    SyntheticRun made = program();
    made.run.hosts[0].access_penalties.reset();
    made.add_unaligned(kSweep, kLoad8, kPair + 4, 4096, 8);
    const std::vector<Finding> findings = made.diagnose("unaligned-access");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == 0);
    CHECK_FALSE(std::get<bool>(findings[0].evidence.at("penalty_measured")));
    made.run.processes[0].alignment.sites.clear();
    made.add_unaligned(kSweep, kLoad8, kPair + 4, 9, 8, false);
    CHECK(made.diagnose("unaligned-access").empty());
    CHECK(accesses_of(made).lines.size() == 1); // but it is listed
}

TEST_CASE("time in traps and in rewritten code is not the run's own") {
    SyntheticRun made = program();
    made.add_unaligned(kSweep, kLocked, kPair + 60, 4000, 64);
    made.run.processes[0].alignment.trap_ns = 5'000'000'000;
    made.run.processes[0].alignment.stand_in_ns = 3'000'000'000;
    const std::vector<Finding> findings = made.diagnose("split-lock");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.2)); // 0.4 s of the remaining 2
}

TEST_CASE("an access inside a library is reported at the line that calls it, with the function that it stands in") {
    SyntheticRun made = program();
    constexpr uint64_t kInner = 0x500100, kInnerToo = 0x500200;
    made.add_module("/opt/lib/libevents.so.7", kInner, kInner + 0x1000);
    made.name(kInner, "poll_events+0x49e", "libevents.so.7", "", 0);
    made.name(kInnerToo, "wake_up+0x10", "libevents.so.7", "", 0);
    const uint32_t caller = made.add_path({kMain, kSweep});
    for (const uint64_t address : {kInner, kInnerToo, kSweep})
        made.add_unaligned(address, kLoad8, kPair + 4, 512, 8).path = address == kSweep ? 0 : caller;
    const UnalignedAccesses accesses = accesses_of(made);
    REQUIRE(accesses.lines.size() == 3);
    std::vector<std::string> code;
    for (const AccessLine& line : accesses.lines) {
        CHECK(line.frame.file == "/src/sweep.f90");
        CHECK(line.frame.line == 20);
        code.push_back(line.called_code());
    }
    std::sort(code.begin(), code.end());
    CHECK(code == std::vector<std::string>{"", "poll_events of libevents.so.7", "wake_up of libevents.so.7"});

    made.run.processes[0].alignment.sites.pop_back();
    const std::vector<Finding> findings = made.diagnose("unaligned-access");
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0].title, Contains(", in ") && Contains(" of libevents.so.7"));
    CHECK(findings[0].evidence.contains("inside"));
}

TEST_CASE("a loop that was run again with aligned data says what its accesses cost") {
    SyntheticRun made = program(); // 10 s of one thread
    model::ReplayedAccess replayed{.address = kSweep, .kind = kStore8, .loop = 1, .steady = true, .loop_begin = kSweep,
                                   .loop_end = kSweep + 16, .samples = 5000, .time_ns = 5'000'000'000, .round = 4096,
                                   .line_share = 1, .page_share = 1, .last_address = kPair + 4092, .seen_ns = 6,
                                   .aligned_ns = 0.6, .spread_ns = 0.01, .round_ns = 6.4, .rounds_at_once = 6};
    const auto findings = [&] {
        made.run.processes.back().replayed_accesses = {replayed};
        return made.diagnose("line-split-access");
    };
    SECTION("its round takes in the program what it takes in the replay") {
        const std::vector<Finding> found = findings();
        REQUIRE(found.size() == 1);
        CHECK(found[0].cost.how == "measured");
        CHECK(found[0].cost.fraction == Approx(0.5 * 5.4 / 6.4));
        CHECK(found[0].severity == Severity::high);
        CHECK(found[0].where.at(0).line == 20);
        CHECK_THAT(found[0].title, Contains("100 % of the 8-byte stores") && Contains("cross a page"));
        CHECK(number(found[0], "loop_round_aligned_ns") == Approx(0.6));
    }
    SECTION("a round in the program gains no more than what it takes beyond an aligned one") {
        replayed.round_ns = 5;
        CHECK(findings().at(0).cost.fraction == Approx(0.5 * 4.4 / 5));
    }
    SECTION("its rounds could not be counted") {
        replayed.round_ns = 0;
        CHECK(findings().at(0).cost.how == "estimated");
        CHECK(findings().at(0).severity == Severity::info);
    }
    SECTION("the program takes far longer for a round: something else does") {
        replayed.round_ns = 20;
        CHECK(findings().at(0).cost.how == "estimated");
        CHECK(findings().at(0).cost.fraction == Approx(0.5 * 5.4 / 20));
        CHECK(findings().at(0).severity == Severity::info);
    }
    SECTION("each sample found it elsewhere: no layout could align all") {
        replayed.steady = false;
        CHECK(findings().at(0).severity == Severity::info);
    }
    SECTION("aligned accesses take no less, whatever counts and penalties suggest") {
        replayed.aligned_ns = 5.9;
        made.add_unaligned(kSweep, kStore8, kPair + 4, 400'000'000, 8);
        CHECK(findings().empty());
        const std::vector<Finding> unaligned = made.diagnose("unaligned-access");
        REQUIRE(unaligned.size() == 1);
        CHECK(unaligned[0].cost.seconds == 0);
    }
    SECTION("within the spread of its repetitions") {
        replayed.spread_ns = 2;
        CHECK(findings().empty());
    }
    SECTION("it could not be replayed") {
        replayed.seen_ns = replayed.aligned_ns = 0;
        CHECK(findings().empty());
    }
    SECTION("two accesses share what their loop loses") {
        model::ReplayedAccess other = replayed;
        other.address = kOther;
        other.kind = kLoad8;
        other.page_share = 0;
        other.line_share = 0.125;
        made.run.processes.back().replayed_accesses = {replayed, other};
        const UnalignedAccesses accesses = accesses_of(made);
        REQUIRE(accesses.lines.size() == 2);
        CHECK(accesses.lines[0].cost.total_s() + accesses.lines[1].cost.total_s() == Approx(5 * 5.4 / 6.4));
        CHECK(accesses.lines[0].cost.page_s > 10 * accesses.lines[1].cost.line_s);
    }
}
