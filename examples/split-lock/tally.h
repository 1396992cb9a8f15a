// Threads that draw numbers and count them in a header that they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

// Runs `count_one(number)` `draws` times, divided between two threads.
template <class CountOne> void draw(long draws, CountOne count_one) {
    constexpr int kThreads = 2;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([=] {
            uint64_t state = 88172645463325252u + static_cast<uint64_t>(t);
            for (long i = t; i < draws; i += kThreads) {
                for (int round = 0; round < 2000; ++round) { // what is to be counted takes its time
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                }
                count_one(state);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

inline long draws_of(int argc, char** argv) { return argc > 1 ? std::atol(argv[1]) : 2000; }
