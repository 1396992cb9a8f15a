// Threads sort the readings of an instrument into classes; each counts for itself what it met.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kMostThreads = 64;
constexpr int kReadings = 4096;

inline uint32_t next_reading(uint32_t& state) { // a small generator, in place of the instrument
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

template <class Counts> void survey(Counts& own, const std::vector<uint32_t>& readings, long rounds) {
    for (long round = 0; round < rounds; ++round)
        for (const uint32_t reading : readings) {
            if (reading & 0x10000)
                own.high.fetch_add(1, std::memory_order_relaxed);
            else
                own.low.fetch_add(1, std::memory_order_relaxed);
            own.sum.fetch_add(reading & 0xff, std::memory_order_relaxed);
        }
}

template <class Counts> int run(Counts* counts, int argc, char** argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 2;
    const long rounds = argc > 2 ? atol(argv[2]) : 20'000;
    if (threads < 1 || threads > kMostThreads || rounds < 1)
        return 2;
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i)
        workers.emplace_back([=] {
            uint32_t state = 2463534242u + static_cast<uint32_t>(i);
            std::vector<uint32_t> readings(kReadings);
            for (uint32_t& reading : readings)
                reading = next_reading(state);
            survey(counts[i], readings, rounds);
        });
    for (std::thread& worker : workers)
        worker.join();
    uint64_t low = 0, high = 0, sum = 0;
    for (int i = 0; i < threads; ++i) {
        low += counts[i].low.load();
        high += counts[i].high.load();
        sum += counts[i].sum.load();
    }
    std::printf("%llu low, %llu high, sum %llu\n", static_cast<unsigned long long>(low),
                static_cast<unsigned long long>(high), static_cast<unsigned long long>(sum));
    return 0;
}
