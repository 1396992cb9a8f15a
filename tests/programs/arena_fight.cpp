// arena_fight THREADS ROUNDS: threads allocate and free, all from one arena (M_ARENA_MAX = 1) and in sizes that the
// per-thread cache does not hold, so that they fight for its lock.
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <thread>
#include <vector>

namespace {

void* volatile g_sink;

void fight(long rounds) {
    void* blocks[16] = {};
    for (long i = 0; i < rounds; i++) {
        void*& block = blocks[i % 16];
        std::free(block);
        block = std::malloc(2000 + 64 * size_t(i % 7)); // beyond the per-thread cache
        g_sink = block;
    }
    for (void* block : blocks)
        std::free(block);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return std::fprintf(stderr, "usage: arena_fight THREADS ROUNDS\n"), 2;
    mallopt(M_ARENA_MAX, 1);
    std::vector<std::thread> threads;
    for (int i = 0; i < std::atoi(argv[1]); i++)
        threads.emplace_back(fight, std::atol(argv[2]));
    for (std::thread& thread : threads)
        thread.join();
    return 0;
}
