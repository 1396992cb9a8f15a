// Threads collect what they found in vectors of their own, on the heap, and the results are joined at the end.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    std::vector<std::vector<std::uint32_t>> found(2);
    std::vector<std::thread> threads;
    for (std::size_t me = 0; me < found.size(); ++me)
        threads.emplace_back([me, &found] {
            std::uint32_t value = static_cast<std::uint32_t>(me + 1);
            std::vector<std::uint32_t>& own = found[me];
            own.resize(4096);
            for (std::uint64_t i = 0; i < 700'000'000; ++i) {
                value = value * 1664525 + 1013904223;
                own[value >> 20] += value & 1;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%u %u\n", found[0][7], found[1][7]);
}
