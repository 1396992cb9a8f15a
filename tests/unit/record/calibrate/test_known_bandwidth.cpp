// What memory can move is measured once an hour for the same streams on the same CPUs.
#include "fake_tree.h"
#include "record/calibrate/known_bandwidth.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace plumb;
using namespace plumb::record;

TEST_CASE("a bandwidth that is known is not measured again within the hour") {
    constexpr uint64_t kMinute_ns = 60'000'000'000;
    FakeTree folder;
    chmod(folder.root().c_str(), 0700);
    double measured = 0;
    const std::vector<TimedCpu> cpus = {{0, 0}, {1, 0}};
    const auto bandwidth = [&](uint64_t now_ns, const StreamMix& mix = {2, 1, 0, 0}, uint64_t bytes = 1 << 26) {
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        const BandwidthTime time = known_bandwidth(cache, mix, cpus, bytes, now_ns, [&] {
            ++measured;
            return BandwidthTime{64 << 20, {{1, 1e9 * measured, 0.9e9, 1.1e9}, {2, 2e9 * measured, 1.9e9, 2.1e9}}, ""};
        });
        cache.save();
        REQUIRE(time.points.size() == 2);
        CHECK(time.bytes == 64 << 20);
        CHECK(time.points[1].threads == 2);
        CHECK(time.points[1].low == 1.9e9);
        return time.points[0].bytes_per_s;
    };
    CHECK(bandwidth(kMinute_ns) == 1e9);
    CHECK(bandwidth(50 * kMinute_ns) == 1e9);
    CHECK(bandwidth(50 * kMinute_ns, {1, 0, 1, 0}) == 2e9);     // other streams
    CHECK(bandwidth(50 * kMinute_ns, {2, 1, 0, 0}, 1 << 27) == 3e9); // other arrays
    CHECK(bandwidth(62 * kMinute_ns) == 4e9);
    CHECK(bandwidth(63 * kMinute_ns) == 4e9);
    CHECK(measured == 4);
}

TEST_CASE("a bandwidth that could not be measured is not kept") {
    FakeTree folder;
    chmod(folder.root().c_str(), 0700);
    platform::MachineCache cache(folder.root(), "here", "boot 1");
    CHECK(known_bandwidth(cache, {1, 0, 0, 0}, {{0, 0}}, 1 << 20, 5, [] { return BandwidthTime{0, {}, "no memory"}; }).why_not == "no memory");
    CHECK(known_bandwidth(cache, {1, 0, 0, 0}, {{0, 0}}, 1 << 20, 6, [] { return BandwidthTime{1, {{1, 5, 5, 5}}, ""}; }).points.size() == 1);
}
