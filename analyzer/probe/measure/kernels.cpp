#include "probe/measure/kernels.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace plumb::probe {

namespace {
constexpr uint64_t kChains = 6, kUnrolled = 16, kFactor = 6364136223846793005u;
}

// Never inlined: all CPUs run the very same code.
[[gnu::noinline]] uint64_t multiply(uint64_t rounds) {
    uint64_t a = 3, b = 5, c = 7, d = 11, e = 13, f = 17;
    const uint64_t factor = kFactor;
    for (uint64_t i = 0; i < rounds; ++i) {
#if defined(__x86_64__)
        asm volatile("imulq %[k], %[a]\n\timulq %[k], %[b]\n\timulq %[k], %[c]\n\timulq %[k], %[d]\n\timulq %[k], %[e]\n\t"
                     "imulq %[k], %[f]"
                     : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [e] "+r"(e), [f] "+r"(f) : [k] "r"(factor) : "cc");
#else
        a *= factor, b *= factor, c *= factor, d *= factor, e *= factor, f *= factor;
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
#endif
    }
    return rounds * kChains;
}

// Of two registers: some processors do additions of small constants while they rename registers, in no time.
[[gnu::noinline]] uint64_t add_in_a_row(uint64_t rounds) {
    uint64_t sum = rounds, one = 1;
    for (uint64_t i = 0; i < rounds; ++i) {
#if defined(__x86_64__)
        asm volatile(".rept 16\n\taddq %[one], %[sum]\n\t.endr" : [sum] "+r"(sum) : [one] "r"(one) : "cc");
#else
        for (uint64_t each = 0; each < kUnrolled; ++each) {
            sum += one;
            asm volatile("" : "+r"(sum));
        }
#endif
    }
    return rounds * kUnrolled;
}

[[gnu::noinline]] void** follow(void** at, uint64_t count) {
    for (; count > 0; --count) {
        at = static_cast<void**>(*at);
        asm volatile("" : "+r"(at));
    }
    return at;
}

[[gnu::noinline]] void read_lines(const char* from, uint64_t bytes) {
    for (const char* const end = from + bytes; from < end; from += 256) {
#if defined(__x86_64__)
        asm volatile("movaps (%0), %%xmm0\n\tmovaps 64(%0), %%xmm1\n\tmovaps 128(%0), %%xmm2\n\tmovaps 192(%0), %%xmm3"
                     : : "r"(from) : "xmm0", "xmm1", "xmm2", "xmm3");
#else
        for (int line = 0; line < 4; ++line)
            static_cast<void>(*reinterpret_cast<const volatile uint64_t*>(from + 64 * line));
#endif
    }
}

uint64_t time_stamp() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

} // namespace plumb::probe
