// Five threads where the scheduler puts them: more than most machines of the corpus have CPUs, and no CPU is ever idle.
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    std::vector<double> sums(5);
    std::vector<std::thread> threads;
    for (size_t number = 0; number < sums.size(); number++)
        threads.emplace_back([&sums, number] {
            double value = static_cast<double>(number);
            for (long i = 0; i < 150'000'000; i++)
                value = value * 0.999999 + 1e-3;
            sums[number] = value;
        });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%g\n", sums[0] + sums[4]);
}
