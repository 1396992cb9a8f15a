#include "platform/os/futex_lock.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <thread>
#include <time.h>
#include <vector>

using namespace plumb::shim;

namespace {

FutexLock lock_under_test;

double thread_cpu_s() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

} // namespace

TEST_CASE("one thread at a time holds the lock") {
    constexpr int kThreads = 4, kRounds = 20'000;
    long count = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&count] {
            for (int i = 0; i < kRounds; ++i) {
                lock_under_test.take();
                ++count;
                lock_under_test.release();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(count == long{kThreads} * kRounds);
}

TEST_CASE("who waits for the lock leaves the CPU to its holder") {
    lock_under_test.take();
    double waited_cpu_s = 1;
    std::thread waiter([&waited_cpu_s] {
        const double begin = thread_cpu_s();
        lock_under_test.take();
        waited_cpu_s = thread_cpu_s() - begin;
        lock_under_test.release();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    lock_under_test.release();
    waiter.join();
    CHECK(waited_cpu_s < 0.02);
}
