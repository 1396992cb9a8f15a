#include "record/calibrate/walk_timing.h"

#include "platform/anonymous_memory.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plumb::record {

namespace {

constexpr uint64_t kAccessesEach = 1 << 17, kFewestRounds = 16, kMostRounds = 1024; // of a repetition
// What one stride leaves in the caches is not what the other finds there in the program: only after some repetitions are
// they as a stride keeps them. With five in a row, the first of them not counted, 8 MiB in longer rows took a fifth longer
// than in a program, and in the program's rows a tenth less.
constexpr uint64_t kWalkRepetitions = 20, kInARow = 10, kToSettle = 8;
constexpr uint64_t kMostBytes = 64u << 20; // that become resident
constexpr uint64_t kMostWalkSpan = uint64_t{1} << 36;

// Additions wait for each other, as in most loops over arrays that are not vectorised. In assembler where that is the
// common machine, so that a build without optimisation measures the same.
#if defined(__x86_64__)

void sum_at(const char* at, uint64_t stride, uint64_t count) {
    asm volatile("1: addsd (%[at]), %%xmm0\n\t"
                 "addq %[stride], %[at]\n\t"
                 "decq %[count]\n\t"
                 "jnz 1b"
                 : [at] "+r"(at), [count] "+r"(count)
                 : [stride] "r"(stride)
                 : "xmm0", "memory", "cc");
}

void scale_at(char* at, uint64_t stride, uint64_t count) {
    asm volatile("1: movsd (%[at]), %%xmm0\n\t"
                 "addsd %%xmm1, %%xmm0\n\t"
                 "movsd %%xmm0, (%[at])\n\t"
                 "addq %[stride], %[at]\n\t"
                 "decq %[count]\n\t"
                 "jnz 1b"
                 : [at] "+r"(at), [count] "+r"(count)
                 : [stride] "r"(stride)
                 : "xmm0", "xmm1", "memory", "cc");
}

void store_at(char* at, uint64_t stride, uint64_t count) {
    asm volatile("1: movsd %%xmm0, (%[at])\n\t"
                 "addq %[stride], %[at]\n\t"
                 "decq %[count]\n\t"
                 "jnz 1b"
                 : [at] "+r"(at), [count] "+r"(count)
                 : [stride] "r"(stride)
                 : "xmm0", "memory", "cc");
}

#else

volatile double used = 0; // or the sums need not be made

void sum_at(const char* at, uint64_t stride, uint64_t count) {
    double sum = 0;
    for (; count > 0; --count, at += stride)
        sum += *reinterpret_cast<const double*>(at);
    used = sum;
}

void scale_at(char* at, uint64_t stride, uint64_t count) {
    for (; count > 0; --count, at += stride)
        *reinterpret_cast<double*>(at) *= 0.75;
}

void store_at(char* at, uint64_t stride, uint64_t count) {
    for (; count > 0; --count, at += stride)
        *reinterpret_cast<double*>(at) = 1;
}

#endif

class WalkTiming {
  public:
    WalkTiming(const Walk& walk, uint64_t rounds)
        : walk_(walk), rounds_(rounds), row_bytes_(row_bytes(walk, rounds)),
          longer_(std::max(walk.stride, walk.padded_stride)), memory_((walk.accesses + 1) * longer_ + row_bytes_) {}

    bool works() const { return memory_.data() != nullptr; }

    // Writes everything that will be touched, so that the pages are there.
    void fill() {
        for (const uint64_t stride : {walk_.stride, walk_.padded_stride})
            for (uint64_t i = 0; i < walk_.accesses; ++i)
                for (uint64_t at = 0; at + sizeof(double) <= row_bytes_; at += sizeof(double))
                    *reinterpret_cast<double*>(memory_.data() + i * stride + at) = 1;
    }

    // Nanoseconds of CPU time of the rounds from `first` on.
    uint64_t run(uint64_t stride, uint64_t first) {
        if (walk_.beyond_caches)
            forget(stride, first);
        const uint64_t begin = own_cpu_ns();
        for (uint64_t round = first; round < first + rounds_; ++round) {
            char* at = memory_.data() + offset_of(round);
            if (!walk_.stores)
                sum_at(at, stride, walk_.accesses);
            else if (walk_.loads)
                scale_at(at, stride, walk_.accesses);
            else
                store_at(at, stride, walk_.accesses);
        }
        return own_cpu_ns() - begin;
    }

  private:
    // What of each row is used in all repetitions; behind it rounds begin at its start again.
    static uint64_t row_bytes(const Walk& walk, uint64_t rounds) {
        const uint64_t wanted = std::min(walk.advance * rounds * kWalkRepetitions + sizeof(double), walk.stride);
        return std::max(std::min(wanted, kMostBytes / walk.accesses & ~uint64_t{7}), sizeof(double));
    }

    uint64_t offset_of(uint64_t round) const {
        return (round * walk_.advance) % (row_bytes_ - sizeof(double) + 1) & ~uint64_t{7};
    }

    // Takes the lines of the coming rounds out of all caches, where the machine lets programs do that.
    void forget(uint64_t stride, uint64_t first) {
#if defined(__x86_64__)
        const uint64_t from = offset_of(first) & ~(kLine - 1);
        const uint64_t to = std::min(from + walk_.advance * rounds_ + kLine, row_bytes_ + kLine);
        for (uint64_t i = 0; i < walk_.accesses; ++i)
            for (uint64_t at = from; at < to; at += kLine)
                __builtin_ia32_clflush(memory_.data() + i * stride + at);
        __builtin_ia32_mfence();
#else
        static_cast<void>(stride);
        static_cast<void>(first);
#endif
    }

    const Walk& walk_;
    const uint64_t rounds_, row_bytes_, longer_;
    platform::AnonymousMemory memory_; // of both: the same pages, and as much in the shared cache as the program has
};

} // namespace

WalkTime time_walk(const Walk& walk) {
    if (walk.accesses == 0 || walk.stride == 0 || walk.stride % 8 || walk.padded_stride % 8 ||
        walk.accesses > kMostWalkSpan / std::max(walk.stride, walk.padded_stride))
        return {};
    const uint64_t rounds = std::clamp(kAccessesEach / walk.accesses, kFewestRounds, kMostRounds);
    if (walk.accesses > kMostBytes / kPage) // each row has a page of its own
        return {};
    WalkTiming timing(walk, rounds);
    if (!timing.works())
        return {};
    timing.fill();
    // In turn, because the clock rate may change.
    std::array<uint64_t, kWalkRepetitions> seen_ns, padded_ns;
    const uint64_t to_settle = walk.beyond_caches ? 1 : kToSettle;
    uint64_t next = 0; // each repetition goes on where the last one ended
    for (uint64_t first = 0; first < kWalkRepetitions; first += kInARow)
        for (const bool padded : {false, true}) {
            const uint64_t stride = padded ? walk.padded_stride : walk.stride;
            for (uint64_t i = 0; i < to_settle; ++i)
                timing.run(stride, next++ % kWalkRepetitions * rounds);
            for (uint64_t i = first; i < first + kInARow; ++i)
                (padded ? padded_ns : seen_ns)[i] = timing.run(stride, next++ % kWalkRepetitions * rounds);
        }
    const uint64_t accesses = rounds * walk.accesses;
    const auto access_ps = [&](std::array<uint64_t, kWalkRepetitions>& times_ns) {
        const auto median = times_ns.begin() + kWalkRepetitions / 2;
        std::nth_element(times_ns.begin(), median, times_ns.end());
        return std::max<uint64_t>(*median * 1000 / accesses, 1);
    };
    return {access_ps(seen_ns), access_ps(padded_ns)};
}

} // namespace plumb::record
