// kernel_mix reads|faults|none ROUNDS: spends its time in tiny reads of /dev/zero, in the first touch of fresh pages,
// or not in the kernel at all (arithmetic).
#include "arithmetic.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

volatile uint64_t g_sink;

void compute(uint64_t rounds) { g_sink = random_after(rounds); }

void small_reads(long rounds) {
    const int fd = open("/dev/zero", O_RDONLY);
    char text[8];
    for (long i = 0; i < rounds; i++)
        g_sink = static_cast<uint64_t>(read(fd, text, sizeof text)); // line of the system calls
    close(fd);
}

void fresh_pages(long rounds) {
    constexpr size_t kBytes = 4 << 20, kPage = 4096;
    for (long round = 0; round < rounds; round++) {
        char* block = static_cast<char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (block == MAP_FAILED)
            return;
        madvise(block, kBytes, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < kBytes; at += kPage)
            block[at] = 1; // line of the page faults
        munmap(block, kBytes);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return std::fprintf(stderr, "usage: kernel_mix reads|faults|none ROUNDS\n"), 2;
    const long rounds = std::atol(argv[2]);
    if (std::strcmp(argv[1], "reads") == 0)
        small_reads(rounds);
    else if (std::strcmp(argv[1], "faults") == 0)
        fresh_pages(rounds);
    else
        compute(static_cast<uint64_t>(rounds));
    return 0;
}
