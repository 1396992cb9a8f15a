// Innocent: a pool of threads of which one has work, a timer that wakes up now and then, a lock that is taken often and held
// for a moment.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex g_lock;
static std::condition_variable g_work;
static bool g_over;
static std::atomic<uint64_t> g_ticks{0};

static void wait_for_work() {
    std::unique_lock<std::mutex> guard(g_lock);
    g_work.wait(guard, [] { return g_over; });
}

static void tick() {
    while (true) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        g_ticks++;
        const std::lock_guard<std::mutex> guard(g_lock);
        if (g_over)
            return;
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; thread++)
        threads.emplace_back(wait_for_work);
    threads.emplace_back(tick);
    uint64_t value = 1;
    for (int round = 0; round < 1200; round++) {
        for (int step = 0; step < 500'000; step++)
            value = value * 6364136223846793005u + 1442695040888963407u;
        const std::lock_guard<std::mutex> guard(g_lock);
        value ^= round;
    }
    {
        const std::lock_guard<std::mutex> guard(g_lock);
        g_over = true;
        g_work.notify_all();
    }
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%llu\n", static_cast<unsigned long long>(value));
}
