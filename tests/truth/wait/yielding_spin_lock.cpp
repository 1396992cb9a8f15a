// Threads add terms to one sum under a lock of their own, which yields while it is taken. Planted: each computes its term under the
// lock. Cured: only the addition is under it.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <sched.h>
#include <thread>

class YieldingLock {
  public:
    void lock() {
        while (taken_.exchange(true, std::memory_order_acquire)) // planted: spin-wait
            sched_yield();                                       // planted: spin-wait
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken_{false};
};

static constexpr int kThreads = 2, kTerms = 1000, kSteps = 200'000;
static YieldingLock g_sum_lock;
static double g_sum;

[[gnu::noinline]] static double term_of(int term) {
    double value = term;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + std::sqrt(value + step);
    return value;
}

static void add_terms(int first) {
    for (int term = first; term < kTerms; term += kThreads) {
#ifdef CURED
        const double value = term_of(term);
        g_sum_lock.lock();
#else
        g_sum_lock.lock();
        const double value = term_of(term);
#endif
        g_sum += std::floor(value);
        g_sum_lock.unlock();
    }
}

int main() {
    std::thread first(add_terms, 0), second(add_terms, 1);
    first.join();
    second.join();
    std::printf("%.0f\n", g_sum);
}
