// Who had a CPU while the thread that measures it was off.
#include "record/noise/absence_names.h"
#include "record/noise/measured_cpus.h"
#include "record/noise/quanta_ring.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <memory>

using namespace plumb::record;
using Catch::Contains;

namespace {

constexpr uint32_t kWorker = 10;

Absence unnamed(uint64_t begin_ns, uint64_t end_ns) { return {begin_ns, end_ns, {{0, 0, begin_ns, end_ns, 0}}}; }

CpuUse use(uint32_t tid, const char* name, uint64_t run_ns) { return {tid, tid, 0, run_ns, 1, name}; }

uint64_t time_of(const std::vector<Absence>& absences, uint32_t tid) {
    uint64_t sum_ns = 0;
    for (const Absence& absence : absences)
        for (const Absence::Part& part : absence.parts)
            sum_ns += part.tid == tid ? part.length_ns() : 0;
    return sum_ns;
}

} // namespace

TEST_CASE("Switches on a CPU make absences of the thread that measures it") {
    AbsenceBuilder builder(kWorker);
    builder.came(3, 3, 50); // before anything is known
    builder.came(kWorker, 1, 100);
    builder.left(kWorker, 200);
    builder.came(77, 70, 203);
    builder.left(77, 300);
    builder.came(88, 80, 304);
    builder.came(kWorker, 1, 400);
    builder.left(kWorker, 500); // goes on
    const std::vector<Absence> absences = builder.take();
    REQUIRE(absences.size() == 1);
    CHECK(absences[0].begin_ns == 200);
    CHECK(absences[0].end_ns == 400);
    CHECK(absences[0].length_ns() == 200);
    REQUIRE(absences[0].parts.size() == 2);
    CHECK(absences[0].parts[0].tid == 77);
    CHECK(absences[0].parts[0].pid == 70);
    CHECK(absences[0].parts[0].end_ns == 304);
    CHECK(absences[0].parts[1].tid == 88);
    SECTION("one that goes on is handed out when it has ended") {
        builder.came(kWorker, 1, 700);
        const std::vector<Absence> later = builder.take();
        REQUIRE(later.size() == 1);
        CHECK(later[0].length_ns() == 200);
        CHECK(later[0].parts[0].tid == 0); // who had it was not recorded
    }
    SECTION("after lost records it is not known what went on") {
        builder.lost();
        builder.came(kWorker, 1, 700);
        CHECK(builder.take().empty());
    }
}

TEST_CASE("The recorder's own time is taken out of absences") {
    const std::vector<AwakeTime> awake{{100, 150}, {400, 500}};
    SECTION("by name") {
        Absence absence{0, 30, {{5, 5, 0, 10, 0}, {6, 6, 10, 30, 0}}};
        CHECK(take_own_time(absence, 5, {}, 0) == 10);
        CHECK(absence.length_ns() == 20);
    }
    SECTION("by when it was awake, where names are not known") {
        Absence absence = unnamed(380, 450);
        CHECK(take_own_time(absence, 5, awake, 1000) == 50);
        CHECK(absence.length_ns() == 20);
        CHECK(absence.parts[0].begin_ns == 380);
    }
    SECTION("but no more than its CPU time") {
        Absence absence = unnamed(100, 150);
        CHECK(take_own_time(absence, 5, awake, 8) == 8);
        CHECK(absence.length_ns() == 42);
    }
    SECTION("others keep theirs") {
        Absence absence{100, 150, {{6, 6, 100, 150, 0}}};
        CHECK(take_own_time(absence, 5, awake, 1000) == 0);
        CHECK(absence.length_ns() == 50);
    }
}

TEST_CASE("Absences get the name of the thread that must have filled them") {
    NameTable names;
    SECTION("a long one, whatever the short ones did") {
        std::vector<Absence> absences{unnamed(0, 20'000), unnamed(50'000, 50'100)};
        std::vector<CpuUse> uses{use(1, "daemon", 20'000), use(2, "kworker", 100)};
        name_by_use(absences, uses, names);
        REQUIRE(absences[0].parts.size() == 1);
        CHECK(absences[0].parts[0].tid == 1);
        CHECK(names.at(absences[0].parts[0].name) == "daemon");
        CHECK(absences[1].parts[0].tid == 2);
        CHECK(!absences[0].parts[0].is_sometime);
    }
    SECTION("where it is open which, each gets what it ran for") {
        std::vector<Absence> absences;
        for (uint64_t i = 0; i < 10; ++i)
            absences.push_back(unnamed(i * 10'000, i * 10'000 + 4'000));
        std::vector<CpuUse> uses{use(1, "daemon", 9'000), use(2, "compiler", 29'000)};
        name_by_use(absences, uses, names);
        CHECK(time_of(absences, 1) == 9'000);
        CHECK(time_of(absences, 2) == 29'000);
        CHECK(time_of(absences, 0) == 2'000); // of one that began and ended unseen
        for (const Absence& absence : absences)
            for (const Absence::Part& part : absence.parts)
                CHECK(part.is_sometime == (part.tid != 0));
    }
    SECTION("what is left of one that got its part is not put down to it, nor are other losses") {
        std::vector<Absence> absences{unnamed(0, 100'000), unnamed(1'000'000, 21'000'000), unnamed(30'000'000, 30'100'000)};
        std::vector<CpuUse> uses{use(1, "daemon", 20'300'000)};
        name_by_use(absences, uses, names);
        CHECK(time_of(absences, 1) == 20'000'000);
        CHECK(absences[0].parts[0].tid == 0);
        CHECK(absences[2].parts[0].tid == 0);
    }
    SECTION("a look before the end of an absence: what the next one will count is known") {
        std::vector<Absence> absences{unnamed(0, 20'000)};
        std::vector<CpuUse> uses{use(1, "daemon", 15'000)};
        name_by_use(absences, uses, names);
        CHECK(time_of(absences, 1) == 20'000);
        CHECK(uses[0].ahead_ns == 5'000);
    }
    SECTION("nobody ran whom one could name") {
        std::vector<Absence> absences{unnamed(0, 20'000)};
        std::vector<CpuUse> uses;
        name_by_use(absences, uses, names);
        CHECK(time_of(absences, 0) == 20'000);
    }
}

TEST_CASE("A ring of quanta hands out each, and sums up those that its reader was too late for") {
    auto ring = std::make_unique<QuantaRing>();
    for (uint64_t i = 0; i < QuantaRing::kPlaces + 5; ++i)
        ring->put(i + 1);
    uint64_t sum = 0, gaps = 0, count = 0;
    const auto take = [&](uint64_t duration_ns, bool is_gap) {
        sum += duration_ns;
        gaps += is_gap;
        ++count;
    };
    ring->take_until(ring->head(), take);
    CHECK(count == QuantaRing::kPlaces);
    CHECK(gaps == 0);
    ring->put(QuantaRing::kPlaces + 6);
    ring->put(QuantaRing::kPlaces + 7);
    ring->take_until(ring->head(), take);
    CHECK(gaps == 1);
    CHECK(count == QuantaRing::kPlaces + 2);
    const uint64_t last = QuantaRing::kPlaces + 7;
    CHECK(sum == last * (last + 1) / 2); // no time is lost
    CHECK(ring->unseen() == 6);
}

TEST_CASE("CPUs to measure are those asked for, or a sentence says why not") {
    const std::vector<int> usable{0, 1, 4, 5};
    CHECK(measured_cpus("all", usable, 8) == usable);
    CHECK(measured_cpus("0,4-5", usable, 8) == std::vector<int>{0, 4, 5});
    CHECK_THROWS_WITH(measured_cpus("2", usable, 8), Contains("may use 0-1,4-5"));
    CHECK_THROWS_WITH(measured_cpus("0,9", usable, 8), Contains("no CPU 9") && Contains("0-7"));
    CHECK_THROWS_WITH(measured_cpus("some", usable, 8), Contains("no list of CPUs"));
    CHECK_THROWS_AS(measured_cpus("", usable, 8), plumb::UsageError);
}
