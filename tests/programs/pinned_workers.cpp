// pinned_workers WORKERS MILLIONS [CPU]: that many threads each do the same fixed amount of arithmetic. With CPU they
// all pin themselves to it first, as a careless launcher would have done.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

namespace {

volatile uint64_t g_sum;

uint64_t spin(uint64_t rounds) {
    uint64_t state = 88172645463325252;
    for (uint64_t i = 0; i < rounds; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

void work(uint64_t rounds) { g_sum = spin(rounds); }

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return std::fprintf(stderr, "usage: pinned_workers WORKERS MILLIONS [CPU]\n"), 2;
    if (argc > 3) { // threads inherit the mask of their creator
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(std::atoi(argv[3]), &mask);
        if (sched_setaffinity(0, sizeof mask, &mask) != 0)
            return std::perror("sched_setaffinity"), 1;
    }
    std::vector<std::thread> workers;
    for (int i = 0; i < std::atoi(argv[1]); i++)
        workers.emplace_back(work, std::strtoull(argv[2], nullptr, 10) * 1'000'000);
    for (std::thread& worker : workers)
        worker.join();
    return 0;
}
