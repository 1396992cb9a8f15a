// Innocent of slow stages: a thread computes, another one formats the lines that it logs now and then, a third one looks every
// 20 ms whether there is progress, and idle workers wait for a request that seldom comes. They wait, but nobody is late.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = 3000, kEach = 130'000, kWorkers = 2;

struct Mailbox {
    std::mutex mutex;
    std::condition_variable ready;
    std::queue<int> numbers;
    bool closed = false;

    void put(int number) {
        const std::lock_guard lock(mutex);
        numbers.push(number);
        ready.notify_one();
    }
    void close() {
        const std::lock_guard lock(mutex);
        closed = true;
        ready.notify_all();
    }
    bool take(int& number) {
        std::unique_lock lock(mutex);
        ready.wait(lock, [this] { return !numbers.empty() || closed; });
        if (numbers.empty())
            return false;
        number = numbers.front();
        numbers.pop();
        return true;
    }
};

Mailbox g_log, g_requests;
std::atomic<int> g_progress{0}, g_stalls{0};
std::mutex g_end_mutex;
std::condition_variable g_end_changed;
bool g_end = false;
std::atomic<size_t> g_bytes{0}, g_served{0};

void log_all() {
    for (int number; g_log.take(number);)
        for (int line = 0; line < 20; ++line)
            g_bytes += std::to_string(number * line).size();
}

void watch() {
    int last = -1;
    std::unique_lock lock(g_end_mutex);
    while (!g_end_changed.wait_for(lock, std::chrono::milliseconds(20), [] { return g_end; })) {
        g_stalls += g_progress == last;
        last = g_progress;
    }
}

void serve() {
    for (int number; g_requests.take(number);)
        for (int round = 0; round < 1000; ++round)
            g_served += static_cast<size_t>(number + round) % 2;
}

[[gnu::noinline]] double step(double value) {
    for (int number = 0; number < kEach; ++number)
        value = value * 0.999 + std::sqrt(value + number);
    return value;
}

} // namespace

int main() {
    std::thread logger(log_all), watchdog(watch);
    std::vector<std::thread> workers;
    for (int worker = 0; worker < kWorkers; ++worker)
        workers.emplace_back(serve);
    double value = 1;
    for (int number = 0; number < kSteps; ++number) {
        value = step(value);
        g_progress = number;
        if (number % 3 == 0)
            g_log.put(number);
        if (number % 50 == 0)
            g_requests.put(number);
    }
    g_log.close();
    g_requests.close();
    {
        const std::lock_guard lock(g_end_mutex);
        g_end = true;
        g_end_changed.notify_all();
    }
    logger.join();
    watchdog.join();
    for (std::thread& worker : workers)
        worker.join();
    std::printf("%.3f %zu %zu\n", value, g_bytes.load(), g_served.load());
}
