#include "record/calibrate/page_timing.h"

#include "platform/anonymous_memory.h"
#include "platform/huge_pages.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kHuge = 2u << 20, kStep = 32u << 20;
constexpr uint64_t kMostSpan = 512u << 20;
constexpr uint64_t kMostFilling_ns = 500'000'000; // zeroing memory takes most of the time
constexpr size_t kPageRepetitions = 10;
constexpr uint64_t kAccesses = 1 << 17, kChased = 1 << 14; // of one repetition: some milliseconds
constexpr double kLeastCoverage = 0.9;
constexpr int kPopulateWrite = 23, kCollapse = 25; // MADV_POPULATE_WRITE (Linux 5.14), MADV_COLLAPSE (6.1)

// From the start of a huge page on.
class Memory {
  public:
    explicit Memory(uint64_t bytes) : memory_(bytes + kHuge) {}
    bool works() const { return static_cast<bool>(memory_); }
    char* data() const { return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.data()) + kHuge - 1) & ~(kHuge - 1)); }

    // False: no memory.
    bool fill(uint64_t from, uint64_t bytes) {
        if (madvise(data() + from, bytes, kPopulateWrite) == 0)
            return true;
        if (errno != EINVAL)
            return false;
        for (uint64_t at = from; at < from + bytes; at += 4096)
            *const_cast<volatile char*>(data() + at) = 0;
        return true;
    }

    // Of the first `bytes`, the part that huge pages hold.
    double coverage(uint64_t bytes) const {
        const auto start = reinterpret_cast<uintptr_t>(data());
        uint64_t huge = 0;
        for (const platform::PageBacking& area : platform::read_page_backing("/proc", static_cast<uint32_t>(getpid())))
            if (area.mapping.start < start + bytes && area.mapping.end > start)
                huge += area.huge_bytes;
        return std::min(1.0, static_cast<double>(huge) / static_cast<double>(bytes));
    }

  private:
    platform::AnonymousMemory memory_;
};

// All memory is zero and stays so: what is added and stored changes nothing, but the processor cannot know. The places are
// the upper half of the product of a random number (Knuth's linear congruence) and the number of lines. In assembler where
// that is the common machine, so that a build without optimisation measures the same.
constexpr uint64_t kFactor = 6364136223846793005u, kSummand = 1442695040888963407u;

#if defined(__x86_64__)

#define PLUMB_SCATTER(ACCESS)                                                                                \
    asm volatile("1: imulq %[factor], %[random]\n\t"                                                         \
                 "addq %[summand], %[random]\n\t"                                                            \
                 "movq %[random], %%rax\n\t"                                                                 \
                 "mulq %[lines]\n\t"                                                                         \
                 "shlq $6, %%rdx\n\t" ACCESS "\n\t"                                                          \
                 "decq %[count]\n\t"                                                                         \
                 "jnz 1b"                                                                                    \
                 : [random] "+r"(random), [count] "+r"(count)                                                \
                 : [at] "r"(at), [lines] "r"(lines), [factor] "r"(kFactor), [summand] "r"(kSummand)          \
                 : "rax", "rdx", "memory", "cc")

void gather(char* at, uint64_t lines, uint64_t& random, uint64_t count) { PLUMB_SCATTER("movq (%[at],%%rdx), %%rax"); }
void chase(char* at, uint64_t lines, uint64_t& random, uint64_t count) { PLUMB_SCATTER("addq (%[at],%%rdx), %[random]"); }
void change(char* at, uint64_t lines, uint64_t& random, uint64_t count) { PLUMB_SCATTER("orq $0, (%[at],%%rdx)"); }
void store(char* at, uint64_t lines, uint64_t& random, uint64_t count) { PLUMB_SCATTER("movq $0, (%[at],%%rdx)"); }

#else

uint64_t place(uint64_t lines, uint64_t& random) {
    random = random * kFactor + kSummand;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(random) * lines >> 64) * kLine;
}
volatile uint64_t& word(char* at, uint64_t offset) { return *reinterpret_cast<volatile uint64_t*>(at + offset); }

void gather(char* at, uint64_t lines, uint64_t& random, uint64_t count) {
    for (; count > 0; --count)
        static_cast<void>(word(at, place(lines, random)));
}
void chase(char* at, uint64_t lines, uint64_t& random, uint64_t count) {
    for (; count > 0; --count)
        random += word(at, place(lines, random));
}
void change(char* at, uint64_t lines, uint64_t& random, uint64_t count) {
    for (; count > 0; --count) {
        volatile uint64_t& one = word(at, place(lines, random));
        one = one | 0;
    }
}
void store(char* at, uint64_t lines, uint64_t& random, uint64_t count) {
    for (; count > 0; --count)
        word(at, place(lines, random)) = 0;
}

#endif

uint64_t run_ns(const ScatteredAccesses& accesses, char* at, uint64_t span, uint64_t& random, uint64_t count) {
    const uint64_t begin = own_cpu_ns(), lines = span / kLine;
    if (accesses.chases)
        chase(at, lines, random, count);
    else if (!accesses.stores)
        gather(at, lines, random, count);
    else if (accesses.loads)
        change(at, lines, random, count);
    else
        store(at, lines, random, count);
    return own_cpu_ns() - begin;
}

std::string why_no_huge_pages() {
    if (platform::refuses_huge_pages("/proc", static_cast<uint32_t>(getpid())))
        return "plumb was started with huge pages switched off (prctl PR_SET_THP_DISABLE)";
    const platform::HugePageSettings settings = platform::read_huge_page_settings("");
    if (settings.enabled.empty())
        return "the kernel is built without transparent huge pages";
    if (settings.enabled == "never")
        return "transparent huge pages are set to never";
    return "the kernel had no huge pages for the measurement: free memory is fragmented";
}

} // namespace

PageTime time_pages(const ScatteredAccesses& accesses, uint64_t most_bytes) {
    PageTime time;
    const uint64_t most = std::min({accesses.span, kMostSpan, most_bytes / 2}) / kHuge * kHuge;
    Memory small(most), huge(most);
    if (most < 2 * kHuge || !small.works() || !huge.works()) {
        time.why_not = "memory for the measurement could not be allocated";
        return time;
    }
    madvise(small.data(), most, MADV_NOHUGEPAGE);
    madvise(huge.data(), most, MADV_HUGEPAGE);
    uint64_t span = 0, small_fill_ns = 0, huge_fill_ns = 0;
    while (span < most && small_fill_ns + huge_fill_ns < kMostFilling_ns) {
        const uint64_t step = std::min(kStep, most - span), begin = own_cpu_ns();
        if (!small.fill(span, step))
            break;
        const uint64_t between = own_cpu_ns();
        if (!huge.fill(span, step))
            break;
        small_fill_ns += between - begin;
        huge_fill_ns += own_cpu_ns() - between;
        span += step;
    }
    if (span == 0) {
        time.why_not = "memory for the measurement could not be allocated";
        return time;
    }
    if (huge.coverage(span) >= kLeastCoverage) {
        time.small_touch_ns = small_fill_ns * kHuge / span;
        time.huge_touch_ns = huge_fill_ns * kHuge / span;
    } else
        madvise(huge.data(), span, kCollapse); // serves where the setting is `never`, too
    const bool has_huge = huge.coverage(span) >= kLeastCoverage;
    const bool has_small = small.coverage(span) <= 1 - kLeastCoverage;
    if (!has_small) {
        time.why_not = "the kernel gave no small pages for the measurement";
        return time;
    }

    const uint64_t count = accesses.chases ? kChased : kAccesses;
    std::array<uint64_t, kPageRepetitions> small_ns{}, huge_ns{};
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i <= kPageRepetitions; ++i) // the first is not counted
        for (const bool of_huge : {false, true}) {
            if (of_huge && !has_huge)
                continue;
            const uint64_t taken = run_ns(accesses, (of_huge ? huge : small).data(), span, random, count);
            if (i > 0)
                (of_huge ? huge_ns : small_ns)[i - 1] = taken;
        }
    // Lower quartiles, not the least: the program, too, runs beside whatever else the machine does.
    const auto access_ps = [&](std::array<uint64_t, kPageRepetitions>& times_ns) {
        const auto quartile = times_ns.begin() + kPageRepetitions / 4;
        std::nth_element(times_ns.begin(), quartile, times_ns.end());
        return std::max<uint64_t>(*quartile * 1000 / count, 1);
    };
    time.span = span;
    time.small_ps = access_ps(small_ns);
    if (has_huge)
        time.huge_ps = access_ps(huge_ns);
    else
        time.why_not = why_no_huge_pages();
    return time;
}

} // namespace plumb::record
