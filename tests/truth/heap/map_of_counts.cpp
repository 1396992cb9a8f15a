// Counts the words of documents, a map for each document. Planted: its nodes come from the heap one by one and go back
// with the map. Cured: a buffer that is used again for the next document.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory_resource>
#include <vector>

#ifdef CURED
using Counts = std::pmr::map<uint32_t, uint32_t>;
#else
using Counts = std::map<uint32_t, uint32_t>;
#endif

static uint64_t most_frequent(const std::vector<uint32_t>& words, Counts& counts) {
    for (uint32_t word : words)
        counts[word]++; // planted: heap-bound
    uint64_t best = 0, best_word = 0;
    for (const auto& [word, count] : counts)
        if (count > best)
            best = count, best_word = word;
    return best_word * 31 + best;
}

int main() {
    uint64_t sum = 0;
    uint32_t seed = 7;
    std::vector<uint32_t> words(60);
    std::vector<char> buffer(64 * 1024);
    for (int document = 0; document < 400000; document++) {
        for (uint32_t& word : words) {
            seed = seed * 1664525 + 1013904223;
            word = (seed >> 8) % 2000;
        }
#ifdef CURED
        std::pmr::monotonic_buffer_resource memory(buffer.data(), buffer.size());
        Counts counts(&memory);
#else
        Counts counts;
#endif
        sum += most_frequent(words, counts);
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
