// Two threads advance a state of half a megabyte each. Planted: a home-made balancer swaps their CPUs after every step.
// Cured: they stay where they are.
#include <cstdio>
#include <sched.h>
#include <thread>
#include <vector>

constexpr size_t kWords = 65536;
constexpr int kSteps = 12000;

static void bind_to(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void advance(int number, double& result) {
    std::vector<double> state(kWords, number + 1.0);
    bind_to(number);
    for (int step = 0; step < kSteps; step++) {
#ifndef CURED
        bind_to((number + step) % 2);
#endif
        for (size_t i = 0, at = 0; i < kWords; i++, at = (at + 4099) % kWords)
            state[at] = state[at] * 0.999 + static_cast<double>(step);
    }
    result = state[77];
}

int main() {
    double results[2] = {};
    std::thread other([&] { advance(1, results[1]); });
    advance(0, results[0]);
    other.join();
    std::printf("%g %g\n", results[0], results[1]);
}
