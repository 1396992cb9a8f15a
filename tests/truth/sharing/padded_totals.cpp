// Threads add into totals of their own, a line each, and meet at the end.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

struct alignas(128) Total {
    volatile uint64_t value = 0;
};

int main() {
    std::vector<Total> totals(2);
    std::vector<std::thread> threads;
    for (Total& total : totals)
        threads.emplace_back([&total] {
            for (uint64_t i = 0; i < 1'500'000'000; i++)
                total.value = total.value + (i ^ (i >> 3));
        });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%lu\n", static_cast<unsigned long>(totals[0].value + totals[1].value));
}
