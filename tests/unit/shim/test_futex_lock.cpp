#include "platform/os/futex_lock.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <pthread.h>
#include <sched.h>
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

// A waiter of a real-time class that span, or yielded, would keep the holder, an ordinary thread, from the CPU that both use.
TEST_CASE("a real-time waiter leaves its CPU to an ordinary holder") {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    std::atomic<int> waits{0};
    double waited_cpu_s = 0;
    uint64_t holders_steps = 0;
    sched_setaffinity(0, sizeof one, &one);
    lock_under_test.take();
    std::thread waiter([&] { // inherits the one CPU
        const sched_param priority{10};
        if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0) {
            waits = -1;
            return;
        }
        const double begin = thread_cpu_s();
        waits = 1;
        lock_under_test.take();
        waited_cpu_s = thread_cpu_s() - begin;
        lock_under_test.release();
    });
    while (waits == 0)
        std::this_thread::yield();
    const double begin = thread_cpu_s();
    while (waits == 1 && thread_cpu_s() - begin < 0.05)
        ++holders_steps;
    const double held_cpu_s = thread_cpu_s() - begin;
    lock_under_test.release();
    waiter.join();
    sched_setaffinity(0, sizeof before, &before);
    if (waits < 0) {
        WARN("skipped: SCHED_FIFO is not permitted here");
        return;
    }
    CHECK(holders_steps > 0);
    CHECK(waited_cpu_s < held_cpu_s / 2);
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
