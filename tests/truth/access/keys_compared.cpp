// Sorts keys that lie one behind the other in a text, as a column of a file does, by comparing eight bytes at once from where
// each of them begins.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

constexpr std::size_t kKeys = 120'000, kBytes = 11;

int main() {
    std::string text;
    std::uint32_t random = 3;
    for (std::size_t i = 0; i < kKeys * kBytes; ++i) {
        random = random * 1664525 + 1013904223;
        text += static_cast<char>('a' + (random >> 24) % 26);
    }
    const auto head = [&](std::uint32_t key) {
        std::uint64_t value;
        std::memcpy(&value, text.data() + key * kBytes, sizeof value);
        return __builtin_bswap64(value);
    };
    std::uint64_t sum = 0;
    for (int round = 0; round < 60; ++round) {
        std::vector<std::uint32_t> order(kKeys);
        std::iota(order.begin(), order.end(), 0);
        std::rotate(order.begin(), order.begin() + round * 1000, order.end());
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return head(a) < head(b); });
        sum += order[static_cast<std::size_t>(round)];
    }
    std::printf("%lu\n", static_cast<unsigned long>(sum));
}
