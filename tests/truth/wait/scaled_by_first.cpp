// Threads that are begun anew for every step compute a table; then it is scaled. Planted: the scaling is done before the next
// threads are begun. Cured: each thread scales its part of the table in the step after.
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2, kSteps = 30, kEntries = 200000;

std::vector<double> table(kEntries, 1), scaled(kEntries, 1);

[[gnu::noinline]] void compute(int begin, int end) {
    for (int entry = begin; entry < end; entry++)
        for (int step = 0; step < 40; step++)
            table[entry] = std::sqrt(table[entry] + entry + step);
}

[[gnu::noinline]] void scale(int begin, int end) {
    for (int entry = begin; entry < end; entry++)
        for (int step = 0; step < 25; step++)
            scaled[entry] = std::sqrt(scaled[entry] + table[entry]); // planted: serial-part
}

template <class Work> void on_all_threads(Work work) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; thread++)
        threads.emplace_back(work, kEntries / kThreads * thread, kEntries / kThreads * (thread + 1));
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace

int main() {
    for (int step = 0; step < kSteps; step++) {
        on_all_threads(compute);
#ifdef CURED
        on_all_threads(scale);
#else
        scale(0, kEntries); // planted: serial-part
#endif
    }
    std::printf("%.6f\n", table[7] + scaled[11]);
}
