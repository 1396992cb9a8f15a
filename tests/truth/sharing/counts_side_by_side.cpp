// Threads count the values of a stream by class. Planted: each thread's few counters stand beside the other's, in the same
// cache line. Cured: each set of counters has lines of its own.
#include <array>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

constexpr int kThreads = 2;
constexpr uint64_t kValues = 240'000'000;

#ifdef CURED
struct alignas(64) Counts {
#else
struct Counts {
#endif
    uint32_t small, medium, large;
};

static std::array<Counts, kThreads> g_counts;

static void classify(Counts& counts, uint32_t seed) {
    uint32_t value = seed;
    for (uint64_t i = 0; i < kValues; i++) {
        value = value * 1664525 + 1013904223;
        volatile uint32_t* const place = value < 1u << 30 ? &counts.small : value < 3u << 30 ? &counts.medium : &counts.large;
        *place = *place + 1; // planted: false-sharing
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
        threads.emplace_back([i] { classify(g_counts[static_cast<size_t>(i)], static_cast<uint32_t>(i + 1)); });
    for (std::thread& thread : threads)
        thread.join();
    for (const Counts& counts : g_counts)
        std::printf("%u %u %u\n", counts.small, counts.medium, counts.large);
}
