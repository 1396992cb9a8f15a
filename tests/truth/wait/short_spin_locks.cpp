// Threads count what falls into buckets, each with a spin lock of its own that is hardly ever taken, and add to one total by
// compare and swap now and then. Nobody waits.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

struct alignas(64) Bucket {
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
    uint64_t count = 0;
};

static constexpr int kBuckets = 512, kItems = 60'000, kSteps = 5'000;
static std::atomic<uint64_t> g_total{0};

static uint64_t item_of(uint64_t value) {
    for (int step = 0; step < kSteps; step++)
        value = value * 2862933555777941757u + 3037000493u;
    return value;
}

static void count_items(Bucket* buckets, uint64_t first) {
    uint64_t value = first;
    for (int item = 0; item < kItems; item++) {
        value = item_of(value);
        Bucket& bucket = buckets[value >> 55];
        while (bucket.taken.test_and_set(std::memory_order_acquire))
            __builtin_ia32_pause();
        bucket.count++;
        bucket.taken.clear(std::memory_order_release);
        uint64_t total = g_total.load(std::memory_order_relaxed);
        while (!g_total.compare_exchange_weak(total, total + (value & 7)))
            ;
    }
}

int main() {
    const auto buckets = std::make_unique<Bucket[]>(kBuckets);
    std::thread first(count_items, buckets.get(), 1), second(count_items, buckets.get(), 2);
    first.join();
    second.join();
    uint64_t count = 0;
    for (int bucket = 0; bucket < kBuckets; bucket++)
        count += buckets[bucket].count;
    std::printf("%llu %llu\n", static_cast<unsigned long long>(count), static_cast<unsigned long long>(g_total.load()));
}
