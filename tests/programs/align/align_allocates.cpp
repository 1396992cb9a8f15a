// usage: align_allocates N [calloc] [realloc]: N rounds of allocations, without an unaligned access of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 0;
    bool clears = false, grows = false;
    for (int i = 2; i < count; ++i) {
        clears |= std::strcmp(arguments[i], "calloc") == 0;
        grows |= std::strcmp(arguments[i], "realloc") == 0;
    }
    std::unique_ptr<long> blocks[16];
    void* grown = nullptr;
    unsigned long sum = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto words = static_cast<std::size_t>(1 + i % 50);
        blocks[i % 16] = std::make_unique<long>(i);
        void* const other = clears ? std::calloc(words, 8) : std::malloc(8 * words);
        if (grows)
            grown = std::realloc(grown, 8 * words);
        sum += other ? words : 0;
        std::free(other);
    }
    std::free(grown);
    std::printf("%lu %ld\n", sum, rounds > 0 ? *blocks[(rounds - 1) % 16] : 0);
}
