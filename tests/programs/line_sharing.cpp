// Threads that use cache lines together, or apart, in known ways.
//     line_sharing PATTERN MILLISECONDS [THREADS]
// Prints what the threads counted, so that the work cannot be left out.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostThreads = 16;
constexpr int kRounds = 4096; // between two looks at the clock

struct Counter {
    volatile uint64_t hits;
    volatile uint64_t bytes;
};
struct alignas(256) PaddedCounter {
    volatile uint64_t hits;
    volatile uint64_t bytes;
};

alignas(256) Counter counters[kMostThreads];
PaddedCounter padded_counters[kMostThreads];
alignas(256) volatile int tallies[kMostThreads];
alignas(256) std::atomic<uint64_t> total;
alignas(256) std::atomic<bool> ends;
alignas(256) std::mutex mutex;
alignas(256) uint64_t guarded;
alignas(256) struct {
    std::atomic<int> limit;          // read by all, changed by nobody
    volatile uint64_t progress;      // of one thread, of no interest to others
} state;
alignas(256) volatile uint64_t handed[8];

// The clock is looked at seldom, so that there is little else than `round`.
template <class Round> uint64_t until(Clock::time_point end, Round round) {
    uint64_t rounds = 0;
    do {
        for (int i = 0; i < kRounds; ++i)
            round();
        rounds += kRounds;
    } while (Clock::now() < end);
    return rounds;
}

template <class Work> void in_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int i = 1; i < count; ++i)
        threads.emplace_back([=] { work(i); });
    work(0);
    for (std::thread& thread : threads)
        thread.join();
}

void count_hits(Counter& own, Clock::time_point end) {
    until(end, [&] {
        own.hits = own.hits + 1;   // hits of an element
        own.bytes = own.bytes + 8; // bytes of an element
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return 2;
    const char* pattern = argv[1];
    const int threads = argc > 3 ? atoi(argv[3]) : 2;
    if (threads < 1 || threads > kMostThreads)
        return 2;
    const auto is = [pattern](const char* name) { return strcmp(pattern, name) == 0; };
    const auto end = Clock::now() + std::chrono::milliseconds(atoi(argv[2]));
    uint64_t sum = 0;
    if (is("structures")) { // an array of structures, one a thread
        in_threads(threads, [&](int i) { count_hits(counters[i], end); });
        for (int i = 0; i < threads; ++i)
            sum += counters[i].hits;
    } else if (is("padded")) {
        in_threads(threads, [&](int i) {
            until(end, [&] {
                padded_counters[i].hits = padded_counters[i].hits + 1;
                padded_counters[i].bytes = padded_counters[i].bytes + 8;
            });
        });
        for (int i = 0; i < threads; ++i)
            sum += padded_counters[i].hits;
    } else if (is("integers")) {
        in_threads(threads, [&](int i) {
            until(end, [&] { tallies[i] = (tallies[i] + 3) & 0xffff; }); // tally
        });
        for (int i = 0; i < threads; ++i)
            sum += static_cast<uint64_t>(tallies[i]);
    } else if (is("heap")) { // the same structures in a block of the heap
        Counter* block = static_cast<Counter*>(std::aligned_alloc(256, sizeof counters));
        memset(block, 0, sizeof counters);
        in_threads(threads, [&](int i) { count_hits(block[i], end); });
        for (int i = 0; i < threads; ++i)
            sum += block[i].hits;
        std::free(block);
    } else if (is("large-heap")) { // a large one, whose allocation is known
        const size_t bytes = 4 << 20;
        char* block = static_cast<char*>(std::malloc(bytes)); // allocated
        memset(block, 0, bytes);
        auto* inside = reinterpret_cast<Counter*>((reinterpret_cast<uintptr_t>(block) + 65536) & ~uintptr_t{255});
        in_threads(threads, [&](int i) { count_hits(inside[i], end); });
        for (int i = 0; i < threads; ++i)
            sum += inside[i].hits;
        std::free(block);
    } else if (is("atomic")) { // one counter for all
        in_threads(threads, [&](int) { until(end, [&] { total.fetch_add(1); }); }); // count all
        sum = total;
    } else if (is("atomic-own")) { // the cure: counters of their own, added up at the end
        in_threads(threads, [&](int) {
            alignas(256) std::atomic<uint64_t> own{0};
            until(end, [&] { own.fetch_add(1); });
            total += own;
        });
        sum = total;
    } else if (is("flag")) { // read by all, written at the end
        in_threads(threads, [&](int i) {
            uint64_t own = 0;
            if (i == 0) {
                own = until(end, [&] { padded_counters[0].hits = padded_counters[0].hits + 1; });
                ends = true;
            } else {
                for (; !ends.load(std::memory_order_relaxed); ++own)
                    padded_counters[i].hits = padded_counters[i].hits + own;
            }
            total += own;
        });
        sum = total;
    } else if (is("beside")) { // read by all, beside what one thread writes
        state.limit = 5;
        in_threads(threads, [&](int i) {
            if (i == 0)
                until(end, [&] { state.progress = state.progress + 1; }); // progress
            else
                until(end, [&] {
                    for (int round = 0; round < state.limit.load(std::memory_order_relaxed); ++round) // limit
                        padded_counters[i].hits = padded_counters[i].hits + 1;
                });
        });
        for (int i = 0; i < threads; ++i)
            sum += padded_counters[i].hits;
    } else if (is("once")) { // written by one thread after the other: each has it for a while
        const auto begin = Clock::now();
        const auto slice = (end - begin) / threads;
        std::atomic<int> turn{0};
        in_threads(threads, [&](int i) {
            while (turn.load(std::memory_order_relaxed) != i)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            until(begin + (i + 1) * slice, [&] { handed[i % 8] = handed[i % 8] + 1; });
            turn = i + 1;
            until(end + std::chrono::milliseconds(1), [&] { padded_counters[i].hits = padded_counters[i].hits + 1; });
        });
        for (int i = 0; i < 8; ++i)
            sum += handed[i];
    } else if (is("mutex")) {
        in_threads(threads, [&](int) {
            until(end, [&] {
                std::lock_guard<std::mutex> guard(mutex); // take the lock
                guarded = guarded + 1;
            });
        });
        sum = guarded;
    } else {
        return 2;
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
