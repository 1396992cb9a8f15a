// The counters lie on their natural boundaries: each within one line. Usage: whole [draws]
#include "tally.h"

namespace {

struct alignas(64) Header {
    char title[48];
    uint64_t odd;
    uint64_t drawn;
    uint32_t format;
};

Header header = {"numbers drawn by all threads", 0, 0, 1};
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
