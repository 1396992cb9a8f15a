// The parts of the heap collector, each against what it promises.
#include "record/heap/heap_peak.h"
#include "record/heap/heap_sampling.h"
#include "record/heap/heap_shadow.h"
#include "record/heap/sampled_blocks.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <thread>
#include <vector>

using namespace plumb::shim;

TEST_CASE("weights are the inverse probability of being sampled") {
    uint64_t random = 1;
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{100}, uint64_t{10000}, uint64_t{524288}, uint64_t{1} << 30}) {
        constexpr uint64_t kMean = 524288;
        const double exact = -1 / std::expm1(-static_cast<double>(bytes) / kMean);
        double sum = 0;
        constexpr int kDraws = 20000;
        for (int i = 0; i < kDraws; ++i)
            sum += static_cast<double>(sampling_weight(&random, bytes, kMean));
        // Random rounding: a deviation of at most 1/2 a draw.
        CHECK(std::abs(sum / kDraws - exact) < 4 * 0.5 / std::sqrt(kDraws) + exact * 1e-6);
    }
}

TEST_CASE("distances between sampled bytes are exponential") {
    uint64_t random = 2;
    constexpr uint64_t kMean = 10000;
    constexpr int kDraws = 100000;
    double sum = 0;
    int longer_than_mean = 0;
    for (int i = 0; i < kDraws; ++i) {
        const uint64_t distance = sampling_distance(&random, kMean);
        REQUIRE(distance >= 1);
        sum += static_cast<double>(distance);
        longer_than_mean += distance > kMean;
    }
    CHECK(std::abs(sum / kDraws / kMean - 1) < 4 / std::sqrt(kDraws));
    CHECK(std::abs(longer_than_mean / double(kDraws) - std::exp(-1)) < 4 * 0.5 / std::sqrt(kDraws));
}

TEST_CASE("a thread that allocates fast is sampled more rarely, and the sums stay unbiased") {
    constexpr uint64_t kMean = 4096, kEach_ns = 100'000; // about a sample of each allocation's 4 KiB
    SamplingPace pace;
    pace.begin(kMean, false);
    uint64_t random = 7, time_ns = 1, total = 0, until = sampling_distance(&random, pace.mean_bytes()), samples = 0;
    double exact_bytes = 0, estimated = 0;
    for (int i = 0; i < 200000; ++i, time_ns += kEach_ns) {
        const uint64_t bytes = 1 + next_random(&random) % 8192;
        exact_bytes += static_cast<double>(bytes);
        if ((total += bytes) < until)
            continue;
        estimated += static_cast<double>(sampling_weight(&random, bytes, pace.mean_bytes()) * bytes);
        pace.sampled(time_ns);
        until = total + sampling_distance(&random, pace.mean_bytes());
        ++samples;
    }
    CHECK(pace.mean_bytes() > 16 * kMean);
    CHECK(static_cast<double>(samples) < 300.0 * 200000 * kEach_ns / 1e9); // 250 a second, and those of the first moments
    CHECK(std::abs(estimated / exact_bytes - 1) < 4 / std::sqrt(static_cast<double>(samples)));
    for (int i = 0; i < 1000; ++i) // one sample a second
        pace.sampled(time_ns += 1'000'000'000);
    CHECK(pace.mean_bytes() == kMean);
    pace.begin(kMean, true);
    for (int i = 0; i < 1000; ++i)
        pace.sampled(time_ns += 1000);
    CHECK(pace.mean_bytes() == kMean);
}

TEST_CASE("byte sampling estimates sums without bias") {
    constexpr uint64_t kMean = 4096;
    uint64_t random = 3, until = sampling_distance(&random, kMean);
    double exact_bytes = 0, estimated = 0, variance = 0;
    for (int i = 0; i < 300000; ++i) {
        const uint64_t bytes = 1 + next_random(&random) % 20000 / (1 + i % 50);
        const double p = -std::expm1(-static_cast<double>(bytes) / kMean);
        exact_bytes += static_cast<double>(bytes);
        variance += static_cast<double>(bytes) * static_cast<double>(bytes) * (1 - p) / p;
        if (bytes < until) {
            until -= bytes;
            continue;
        }
        until = sampling_distance(&random, kMean);
        estimated += static_cast<double>(sampling_weight(&random, bytes, kMean) * bytes);
    }
    CHECK(std::abs(estimated - exact_bytes) < 4 * std::sqrt(variance));
}

TEST_CASE("the shadow table keeps path and size of every kind of block") {
    const uint64_t bases[] = {0x10, (uint64_t{1} << 26) - 16, 0x7f1234567890, 0x555500000008, (uint64_t{1} << 47) - 4096};
    for (const uint64_t base : bases)
        for (const uint64_t bytes : {uint64_t{0}, uint64_t{8}, uint64_t{16}, uint64_t{17}, uint64_t{1} << 20}) {
            REQUIRE(shadow_store(base, 12345, bytes));
            const ShadowEntry entry = shadow_take(base);
            CHECK(entry.known);
            CHECK(entry.path == 12345);
            CHECK(entry.bytes == bytes);
            CHECK_FALSE(shadow_take(base).known);
            CHECK_FALSE(shadow_take(base + 16).known); // nothing is left of its size
            CHECK_FALSE(shadow_take(base + 32).known);
        }
    REQUIRE(shadow_store(0x1000, 7, uint64_t{5} << 30));
    CHECK(shadow_take(0x1000).bytes == uint64_t{5} << 30);
    REQUIRE(shadow_store(0x1000, 7, (uint64_t{5} << 30) + 12345)); // beyond 30 bits the size is exact, too
    CHECK(shadow_take(0x1000).bytes == (uint64_t{5} << 30) + 12345);
    CHECK_FALSE(shadow_take(0x1020).known);
    CHECK_FALSE(shadow_store(0x1000, 1u << 26, 100));
    CHECK_FALSE(shadow_store(uint64_t{1} << 50, 1, 100));
}

TEST_CASE("neighbours in the shadow table do not disturb each other") {
    // 8-byte blocks of some allocators, 16-byte blocks, 32-byte blocks
    for (const uint64_t step : {8u, 16u, 32u}) {
        const uint64_t bytes = step == 32 ? 24 : step;
        for (uint64_t i = 0; i < 1000; ++i)
            REQUIRE(shadow_store(0x600000 + i * step, static_cast<uint32_t>(i), bytes));
        for (uint64_t i = 0; i < 1000; ++i) {
            const ShadowEntry entry = shadow_take(0x600000 + i * step);
            REQUIRE(entry.known);
            REQUIRE(entry.path == i);
            REQUIRE(entry.bytes == bytes);
        }
    }
}

TEST_CASE("watched blocks are found by the filter and taken once") {
    SampledBlock block{};
    const uint64_t address = 0x7f0012345670;
    CHECK_FALSE(take_sampled_block(address, &block));
    REQUIRE(insert_sampled_block(address, {42, 7, 100}));
    CHECK(may_be_watched(reinterpret_cast<void*>(address)));
    int neighbours = 0; // of its page
    for (uint64_t at = address & ~(kSampledFilterPageBytes - 1); at % kSampledFilterPageBytes + 16 < kSampledFilterPageBytes; at += 16)
        neighbours += at != address && may_be_watched(reinterpret_cast<void*>(at));
    CHECK(neighbours <= 2);
    REQUIRE(take_sampled_block(address, &block));
    CHECK(block.path == 42);
    CHECK(block.weight == 7);
    CHECK(block.bytes == 100);
    CHECK_FALSE(may_be_watched(reinterpret_cast<void*>(address)));
    CHECK_FALSE(take_sampled_block(address, &block));
    watch_always(nullptr);
    forget_sampled_blocks();
    CHECK(may_be_watched(nullptr));
}

TEST_CASE("threads insert and take watched blocks at once") {
    std::vector<std::thread> threads;
    std::vector<int> lost(4);
    for (uint64_t t = 0; t < 4; ++t)
        threads.emplace_back([t, &lost] {
            for (uint64_t round = 0; round < 20; ++round) {
                for (uint64_t i = 0; i < 1000; ++i)
                    lost[t] += !insert_sampled_block(0x10000000 + (i * 4 + t) * 48, {uint32_t(i), t, i});
                for (uint64_t i = 0; i < 1000; ++i) {
                    SampledBlock block{};
                    lost[t] += !take_sampled_block(0x10000000 + (i * 4 + t) * 48, &block) || block.path != i ||
                               block.weight != t || block.bytes != i;
                }
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(lost == std::vector<int>(4));
}

TEST_CASE("an epoch begins at each new maximum and at no other time") {
    HeapPeak peak;
    peak.add(1000000);
    const uint64_t first = peak.epoch();
    peak.add(5000);
    CHECK(peak.epoch() == first); // less than 1/128 above
    peak.add(20000);
    CHECK(peak.epoch() == first + 1);
    peak.add(-1000000);
    peak.add(1000000);
    CHECK(peak.epoch() == first + 1);
    CHECK(peak.peak() == 1025000);
}
