#include "record/calibrate/access_penalties.h"

#include "platform/probes/probe.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace plumb::record {

namespace {

constexpr uint64_t kRounds = 256, kAccessesARound = 4, kPenaltyRepetitions = 12;
constexpr size_t kBytes = 8 * kPage;

// Four accesses a round at base, base + stride, ... + 3 * stride; 8 bytes each.
using Loop = void (*)(char* base, uint64_t stride, uint64_t rounds);

#if defined(__x86_64__)

void load(char* base, uint64_t stride, uint64_t rounds) {
    char* last = base + 3 * stride;
    asm volatile("1: movq (%[base]), %%rax\n\t"
                 "movq (%[base],%[stride]), %%rdx\n\t"
                 "movq (%[base],%[stride],2), %%rcx\n\t"
                 "movq (%[last]), %%r8\n\t"
                 "decq %[rounds]\n\t"
                 "jnz 1b"
                 : [rounds] "+r"(rounds)
                 : [base] "r"(base), [stride] "r"(stride), [last] "r"(last)
                 : "rax", "rdx", "rcx", "r8", "memory", "cc");
}

void store(char* base, uint64_t stride, uint64_t rounds) {
    char* last = base + 3 * stride;
    asm volatile("1: movq %%rax, (%[base])\n\t"
                 "movq %%rax, (%[base],%[stride])\n\t"
                 "movq %%rax, (%[base],%[stride],2)\n\t"
                 "movq %%rax, (%[last])\n\t"
                 "decq %[rounds]\n\t"
                 "jnz 1b"
                 : [rounds] "+r"(rounds)
                 : [base] "r"(base), [stride] "r"(stride), [last] "r"(last)
                 : "memory", "cc");
}

// Sums, or stores, `count` consecutive doubles (a multiple of four) from `base`, `rounds` times.
void sweep_loads(char* base, uint64_t count, uint64_t rounds) {
    for (; rounds > 0; --rounds) {
        char *at = base, *end = base + 8 * count;
        asm volatile("1: addsd (%[at]), %%xmm0\n\t"
                     "addsd 8(%[at]), %%xmm1\n\t"
                     "addsd 16(%[at]), %%xmm2\n\t"
                     "addsd 24(%[at]), %%xmm3\n\t"
                     "addq $32, %[at]\n\t"
                     "cmpq %[end], %[at]\n\t"
                     "jne 1b"
                     : [at] "+r"(at)
                     : [end] "r"(end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "memory", "cc");
    }
}

void sweep_stores(char* base, uint64_t count, uint64_t rounds) {
    for (; rounds > 0; --rounds) {
        char *at = base, *end = base + 8 * count;
        asm volatile("1: movq %%rax, (%[at])\n\t"
                     "movq %%rax, 8(%[at])\n\t"
                     "movq %%rax, 16(%[at])\n\t"
                     "movq %%rax, 24(%[at])\n\t"
                     "addq $32, %[at]\n\t"
                     "cmpq %[end], %[at]\n\t"
                     "jne 1b"
                     : [at] "+r"(at)
                     : [end] "r"(end)
                     : "memory", "cc");
    }
}

void add_locked(char* base, uint64_t stride, uint64_t rounds) {
    char* last = base + 3 * stride;
    asm volatile("1: lock incq (%[base])\n\t"
                 "lock incq (%[base],%[stride])\n\t"
                 "lock incq (%[base],%[stride],2)\n\t"
                 "lock incq (%[last])\n\t"
                 "decq %[rounds]\n\t"
                 "jnz 1b"
                 : [rounds] "+r"(rounds)
                 : [base] "r"(base), [stride] "r"(stride), [last] "r"(last)
                 : "memory", "cc");
}

#else

typedef volatile uint64_t Unaligned __attribute__((aligned(1), may_alias));

void load(char* base, uint64_t stride, uint64_t rounds) {
    for (; rounds > 0; --rounds)
        for (uint64_t i = 0; i < kAccessesARound; ++i)
            static_cast<void>(*reinterpret_cast<Unaligned*>(base + i * stride));
}

void store(char* base, uint64_t stride, uint64_t rounds) {
    for (; rounds > 0; --rounds)
        for (uint64_t i = 0; i < kAccessesARound; ++i)
            *reinterpret_cast<Unaligned*>(base + i * stride) = i;
}

void sweep_loads(char* base, uint64_t count, uint64_t rounds) {
    for (; rounds > 0; --rounds)
        for (uint64_t i = 0; i < count; ++i)
            static_cast<void>(*reinterpret_cast<Unaligned*>(base + 8 * i));
}

void sweep_stores(char* base, uint64_t count, uint64_t rounds) {
    for (; rounds > 0; --rounds)
        for (uint64_t i = 0; i < count; ++i)
            *reinterpret_cast<Unaligned*>(base + 8 * i) = i;
}

void add_locked(char* base, uint64_t stride, uint64_t rounds) { // never called off its natural alignment
    for (; rounds > 0; --rounds)
        for (uint64_t i = 0; i < kAccessesARound; ++i)
            __atomic_fetch_add(reinterpret_cast<uint64_t*>(base + i * stride), 1, __ATOMIC_SEQ_CST);
}

#endif

// Picoseconds of one access.
uint64_t least_ps(Loop loop, char* base, uint64_t stride, uint64_t rounds, uint64_t repetitions) {
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < repetitions; ++i) {
        const uint64_t begin = monotonic_ns();
        loop(base, stride, rounds);
        least = std::min(least, monotonic_ns() - begin);
    }
    return least * 1000 / (rounds * kAccessesARound);
}

// What one line crossing adds to a sweep of which one access in eight crosses, none of them a page; 1 if nothing.
uint16_t sweep_line_ps(Loop sweep, char* page) {
    constexpr uint64_t kCount = kPage / 8 - 8, kSweeps = 4;
    uint64_t aligned_ns = UINT64_MAX, crossing_ns = UINT64_MAX;
    const auto time = [&](char* base) {
        const uint64_t begin = monotonic_ns();
        sweep(base, kCount, kSweeps);
        return monotonic_ns() - begin;
    };
    for (uint64_t i = 0; i < 2 * kPenaltyRepetitions; ++i) { // in turn: the clock rate may change
        aligned_ns = std::min(aligned_ns, time(page));
        crossing_ns = std::min(crossing_ns, time(page + 4));
    }
    const uint64_t extra_ns = crossing_ns > aligned_ns ? crossing_ns - aligned_ns : 0;
    return static_cast<uint16_t>(std::clamp<uint64_t>(extra_ns * 1000 * 8 / (kCount * kSweeps), 1, UINT16_MAX));
}

// Five repetitions of four at the most.
uint64_t time_split_locks(char* memory) {
#if defined(__x86_64__)
    auto* result = static_cast<uint64_t*>(
        mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (result == MAP_FAILED)
        return 0;
    const int status = platform::run_in_child([&] {
        memory[0] = memory[kPage - 1] = 0; // the child's own page, before the clock runs
        *result = least_ps(add_locked, memory + kLine - 4, 2 * kLine, 1, 5);
        return 0;
    });
    const uint64_t time_ps = status == 0 ? *result : 0;
    munmap(result, kPage);
    return time_ps;
#else
    static_cast<void>(memory);
    return 0;
#endif
}

} // namespace

trace::AccessPenalty measure_access_penalties(bool with_split_locks) {
    trace::AccessPenalty penalty{};
    void* place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return penalty;
    char* memory = static_cast<char*>(place);
    std::memset(memory, 0, kBytes); // a page that was never written is one page of zeros
    const auto time = [&](Loop loop, uint64_t offset, uint64_t stride) {
        return least_ps(loop, memory + offset, stride, kRounds, kPenaltyRepetitions);
    };
    // Every other line, so that no two accesses of the line-crossing loop share one. Pages: what crosses into the next.
    penalty.loads = kRounds * kAccessesARound * kPenaltyRepetitions;
    penalty.aligned_load_ps = time(load, 0, 2 * kLine);
    penalty.unaligned_load_ps = time(load, 4, 2 * kLine);
    penalty.line_load_ps = time(load, kLine - 4, 2 * kLine);
    penalty.page_load_ps = time(load, kPage - 4, kPage);
    penalty.aligned_store_ps = time(store, 0, 2 * kLine);
    penalty.unaligned_store_ps = time(store, 4, 2 * kLine);
    penalty.line_store_ps = time(store, kLine - 4, 2 * kLine);
    penalty.page_store_ps = time(store, kPage - 4, kPage);
    penalty.sweep_line_load_ps = sweep_line_ps(sweep_loads, memory);
    penalty.sweep_line_store_ps = sweep_line_ps(sweep_stores, memory);
    penalty.locked_ps = time(add_locked, 0, 2 * kLine);
    if (with_split_locks)
        penalty.split_lock_ps = time_split_locks(memory);
    munmap(place, kBytes);
    return penalty;
}

} // namespace plumb::record
