// How much of the last cache is used is found where reading becomes slower, whatever the cache is said to keep.
#include "fake_tree.h"
#include "record/calibrate/usable_cache.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <vector>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kMiB = 1 << 20;

// A machine that keeps so much: the share of what goes around and is found again falls from all to nothing over a doubling.
double rate_with(uint64_t kept_bytes, uint64_t bytes) {
    const double over = static_cast<double>(bytes) / static_cast<double>(kept_bytes);
    return over <= 1 ? 28e9 : over >= 2 ? 15e9 : 28e9 - (over - 1) * 13e9;
}

} // namespace

TEST_CASE("the used part of a cache ends where reading becomes slower") {
    std::vector<uint64_t> asked;
    const auto found = [&](uint64_t said, uint64_t kept) {
        asked.clear();
        return usable_cache_bytes(said, [&](uint64_t bytes) {
            asked.push_back(bytes);
            return rate_with(kept, bytes);
        });
    };
    CHECK(found(480 * kMiB, 64 * kMiB) == 128 * kMiB);
    CHECK(asked == std::vector<uint64_t>{8 * kMiB, 16 * kMiB, 32 * kMiB, 64 * kMiB, 128 * kMiB}); // nothing beyond
    CHECK(found(480 * kMiB, 100 * kMiB) == 240 * kMiB); // of 128 MiB most is still found
    CHECK(found(480 * kMiB, 480 * kMiB) == 480 * kMiB);
    CHECK(found(32 * kMiB, 32 * kMiB) == 32 * kMiB);
    CHECK(asked.back() == 16 * kMiB);
    CHECK(found(480 * kMiB, 4 * kMiB) == 480 * kMiB); // slow from the first on: not found out
    CHECK(found(12 * kMiB, 6 * kMiB) == 12 * kMiB);   // too small to tell
    CHECK(asked.empty());
    CHECK(usable_cache_bytes(480 * kMiB, [](uint64_t) { return 0.0; }) == 480 * kMiB); // no memory
}

TEST_CASE("a measured cache is known for an hour") {
    constexpr uint64_t kMinute_ns = 60'000'000'000;
    FakeTree folder;
    chmod(folder.root().c_str(), 0700);
    const auto known = [&](uint64_t most_bytes, uint64_t now_ns) {
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        const uint64_t bytes = known_usable_cache_bytes(cache, 32 * kMiB, most_bytes, now_ns);
        cache.save();
        return bytes;
    };
    CHECK(known(kMiB, kMinute_ns) == 32 * kMiB); // there is no memory for it: nothing is kept
    CHECK_FALSE(platform::MachineCache(folder.root(), "here", "boot 1").find("usable cache 33554432"));
    const uint64_t measured = known(64 * kMiB, 2 * kMinute_ns);
    CHECK((measured == 16 * kMiB || measured == 32 * kMiB));
    {
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        cache.keep("usable cache 33554432", std::to_string(3 * kMinute_ns) + " 12345678");
        cache.save();
    }
    CHECK(known(64 * kMiB, 62 * kMinute_ns) == 12345678);
    CHECK(known(64 * kMiB, 64 * kMinute_ns) != 12345678);
}
