// Two threads share a table; one of them also sends it away, which takes a while. Planted: it keeps the lock meanwhile. Cured:
// it copies what it sends, and sends without the lock.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex g_table_lock;
static std::vector<uint64_t> g_table(2000, 1);
static volatile uint64_t g_sink;

// A slow device of which the time is known.
[[gnu::noinline]] static void transmit(const std::vector<uint64_t>& table) {
    std::this_thread::sleep_for(std::chrono::milliseconds(8)); // planted: lock-wait
    g_sink = g_sink + table[0];
}

static void send_reports() {
    for (int report = 0; report < 100; report++) {
#ifdef CURED
        std::vector<uint64_t> copy;
        {
            const std::lock_guard<std::mutex> guard(g_table_lock);
            copy = g_table;
        }
        transmit(copy);
#else
        {
            const std::lock_guard<std::mutex> guard(g_table_lock);
            transmit(g_table);
        }
#endif
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

[[gnu::noinline]] static uint64_t compute(uint64_t seed) {
    uint64_t value = seed;
    for (int step = 0; step < 1'000'000; step++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static void update_table() {
    for (uint64_t round = 0; round < 1400; round++) {
        const uint64_t value = compute(round);
        const std::lock_guard<std::mutex> guard(g_table_lock);
        g_table[value % g_table.size()] += 1;
    }
}

int main() {
    std::thread sender(send_reports), updater(update_table);
    sender.join();
    updater.join();
    uint64_t sum = 0;
    for (const uint64_t entry : g_table)
        sum += entry;
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
