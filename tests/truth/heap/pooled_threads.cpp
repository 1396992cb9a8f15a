// Threads that allocate much, each within its own cache: no fight, and little time in the allocator beside the work.
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

static double work(int seed) {
    double sum = 0;
    for (int i = 0; i < 200000; i++) {
        auto values = std::make_unique<double[]>(64);
        for (int k = 0; k < 64; k++)
            values[static_cast<size_t>(k)] = std::exp(-0.001 * (i % 100 + k + seed));
        for (int round = 0; round < 20; round++)
            for (int k = 1; k < 64; k++)
                sum += values[static_cast<size_t>(k)] * values[static_cast<size_t>(k - 1)];
    }
    return sum;
}

int main() {
    std::vector<double> sums(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&sums, i] { sums[static_cast<size_t>(i)] = work(i); });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%g\n", sums[0] + sums[1]);
}
