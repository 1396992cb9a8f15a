// Loops of which each instruction is known, for each architecture; the only file of this room that knows one.
#pragma once

#include <cstdint>

namespace plumb::record {

// A round: 2 scalar additions, 2 scalar multiplications, 2 packed additions and 2 packed multiplications of two doubles, one
// instruction that counts down, one branch back. All of zeros: no result is subnormal, none is infinite.
inline constexpr uint64_t kRoundInstructions = 10, kRoundBranches = 1;
inline constexpr uint64_t kRoundScalarOperations = 4, kRoundPackedOperations = 8;

// A link of a chain: a load that the next one needs, one instruction that counts down, one branch back.
inline constexpr uint64_t kLinkInstructions = 3;

#if defined(__x86_64__)

inline void do_rounds(uint64_t rounds) {
    asm volatile("xorps %%xmm0, %%xmm0; xorps %%xmm1, %%xmm1; xorps %%xmm2, %%xmm2; xorps %%xmm3, %%xmm3\n"
                 "xorps %%xmm4, %%xmm4; xorps %%xmm5, %%xmm5; xorps %%xmm6, %%xmm6; xorps %%xmm7, %%xmm7\n"
                 "1: addsd %%xmm0, %%xmm0; addsd %%xmm1, %%xmm1; mulsd %%xmm2, %%xmm2; mulsd %%xmm3, %%xmm3\n"
                 "addpd %%xmm4, %%xmm4; addpd %%xmm5, %%xmm5; mulpd %%xmm6, %%xmm6; mulpd %%xmm7, %%xmm7\n"
                 "subq $1, %0; jnz 1b"
                 : "+r"(rounds)
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc");
}

inline const void* follow_links(const void* at, uint64_t links) {
    asm volatile("1: movq (%0), %0; subq $1, %1; jnz 1b" : "+r"(at), "+r"(links) : : "memory", "cc");
    return at;
}

// Out of every cache. The processor may do so later: settle_flushes() waits for it.
inline void flush_line(const void* line) { asm volatile("clflush (%0)" : : "r"(line) : "memory"); }
inline void settle_flushes() { asm volatile("mfence" : : : "memory"); }

#elif defined(__aarch64__)

inline void do_rounds(uint64_t rounds) {
    asm volatile("movi v0.2d, #0; movi v1.2d, #0; movi v2.2d, #0; movi v3.2d, #0\n"
                 "movi v4.2d, #0; movi v5.2d, #0; movi v6.2d, #0; movi v7.2d, #0\n"
                 "1: fadd d0, d0, d0; fadd d1, d1, d1; fmul d2, d2, d2; fmul d3, d3, d3\n"
                 "fadd v4.2d, v4.2d, v4.2d; fadd v5.2d, v5.2d, v5.2d; fmul v6.2d, v6.2d, v6.2d; fmul v7.2d, v7.2d, v7.2d\n"
                 "subs %0, %0, #1; b.ne 1b"
                 : "+r"(rounds)
                 :
                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "cc");
}

inline const void* follow_links(const void* at, uint64_t links) {
    asm volatile("1: ldr %0, [%0]; subs %1, %1, #1; b.ne 1b" : "+r"(at), "+r"(links) : : "memory", "cc");
    return at;
}

inline void flush_line(const void* line) { asm volatile("dc civac, %0" : : "r"(line) : "memory"); }
inline void settle_flushes() { asm volatile("dsb sy" : : : "memory"); }

#else
#error "known_loops.h: no loops for this architecture yet"
#endif

} // namespace plumb::record
