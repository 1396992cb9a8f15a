// Reading a ring that the kernel fills: each new name of this thread is one record of known content.
#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <string>
#include <sys/prctl.h>
#include <vector>

using namespace plumb::record;

namespace {

constexpr size_t kPages = 1;

struct Seen {
    std::string name;
    uint64_t end;
};

std::vector<Seen> read(PerfRing& ring) {
    std::vector<Seen> seen;
    ring.read([&](const perf_event_header& header, uint64_t end) {
        CHECK(reinterpret_cast<uint64_t>(&header) % 8 == 0);
        const auto record = decode(header, kSampleFields, 0);
        REQUIRE(record);
        REQUIRE(record->kind == PerfKind::comm);
        seen.push_back({std::string(record->text), end});
    });
    return seen;
}

} // namespace

TEST_CASE("a ring keeps what was not freed, and nothing comes twice, also around its end") {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_DUMMY;
    event.sample_type = kSampleFields;
    event.comm = event.sample_id_all = event.exclude_kernel = event.exclude_hv = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    PerfRing ring;
    if (const int error = ring.open(event, 0, -1, kPages)) {
        WARN("not tested: perf events are refused here, error " << error);
        return;
    }
    char before[16] = "";
    prctl(PR_GET_NAME, before);
    int given = 0, taken = 0;
    const auto next_name = [](int number) { return "name-" + std::to_string(number); };
    for (int round = 0; round < 200; ++round) { // of 56 bytes each, so that some lie around the end of 4096
        const int added = 1 + round % 7;
        for (int i = 0; i < added; ++i)
            prctl(PR_SET_NAME, next_name(given++).c_str());
        const std::vector<Seen> seen = read(ring);
        REQUIRE(seen.size() == static_cast<size_t>(given - taken));
        for (size_t i = 0; i < seen.size(); ++i)
            CHECK(seen[i].name == next_name(taken + static_cast<int>(i)));
        const size_t freed = seen.size() > 20 ? seen.size() - 3 : seen.size() / 2;
        if (freed > 0)
            ring.free_until(seen[freed - 1].end);
        taken += static_cast<int>(freed);
    }
    ring.drain([&](const perf_event_header&) { ++taken; });
    CHECK(taken == given);
    CHECK(read(ring).empty());
    prctl(PR_SET_NAME, before);
}
