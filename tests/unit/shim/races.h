// What the tests of races share. races.cpp stands in for the rest of the shim, without any lock that would order the threads.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace races {

inline void require(bool holds, const char* what) {
    if (holds)
        return;
    std::fprintf(stderr, "not true: %s\n", what);
    std::exit(1);
}

template <class Action> void in_threads(const char* what, Action action) {
    constexpr uint32_t kThreads = 4;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kThreads; ++i)
        threads.emplace_back(action, i);
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%s\n", what);
}

} // namespace races
