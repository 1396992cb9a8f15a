// The counters lie in a header that was laid out byte by byte, as a file or a message has it. Usage: split [draws]
#include "tally.h"

namespace {

#pragma pack(push, 1)
struct alignas(64) Header {
    char title[48];
    uint64_t odd;    // at 48: within the first line
    uint32_t format; // at 56
    uint64_t drawn;  // at 60: its first half in one line, its second half in the next
};
#pragma pack(pop)

Header header = {"numbers drawn by all threads", 0, 1, 0};
uint64_t *const odd = &header.odd, *const drawn = &header.drawn;

} // namespace

int main(int argc, char** argv) {
    draw(draws_of(argc, argv), [](uint64_t number) {
        __atomic_fetch_add(odd, number & 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(drawn, 1, __ATOMIC_RELAXED);
    });
    std::printf("%s: %lu, odd: %lu\n", header.title, static_cast<unsigned long>(header.drawn),
                static_cast<unsigned long>(header.odd));
}
