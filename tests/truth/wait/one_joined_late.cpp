// Threads add up the cost of jobs, each its part of the list, and are joined. Planted: the parts are equal in number, and the
// expensive jobs stand at the end of the list. Cured: each thread takes the next job from a common counter.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

constexpr int kThreads = 2, kJobs = 600;
static std::atomic<int> g_next{0};

[[gnu::noinline]] static double cost_of(int job) {
    const int steps = job < kJobs / 2 ? 100'000 : 500'000;
    double value = job;
    for (int step = 0; step < steps; step++)
        value = value * 0.999 + std::sqrt(value + step); // planted: thread-imbalance
    return value;
}

static void add_up(int thread, std::vector<double>& costs) {
#ifdef CURED
    (void)thread;
    for (int job = g_next++; job < kJobs; job = g_next++)
        costs[static_cast<size_t>(job)] = cost_of(job);
#else
    const int jobs = kJobs / kThreads;
    for (int job = thread * jobs; job < (thread + 1) * jobs; job++)
        costs[static_cast<size_t>(job)] = cost_of(job);
#endif
}

int main() {
    std::vector<double> costs(kJobs);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; thread++)
        threads.emplace_back(add_up, thread, std::ref(costs));
    for (std::thread& thread : threads)
        thread.join();
    double sum = 0;
    for (const double cost : costs)
        sum += cost;
    std::printf("%.3f\n", sum);
}
