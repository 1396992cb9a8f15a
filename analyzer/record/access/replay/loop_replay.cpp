#include "record/access/replay/loop_replay.h"

#include "platform/anonymous_memory.h"
#include "platform/probes/probe.h"
#include "record/access/replay/access_layout.h"
#include "record/access/replay/replay_code.h"
#include "record/run/node_trace_writer.h"
#include "support/magnitude.h"
#include "support/memory_units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/mman.h>

namespace plumb::record {

namespace {

constexpr uint64_t kCodeBytes = 1 << 16, kMostBytes = 4u << 20;
constexpr uint64_t kCounters = kCodeBytes + 2080; // few loops access just these lines of each page
// Rounds in a row. Counting and a jump after each take more than in the program, where one register does for the addresses and
// the end; nearly without them a loop is a bit too fast. See form_like().
constexpr std::array<uint64_t, 2> kUnrolled = {1, 8};
constexpr double kAsAlike = 0.03; // of a round: forms that differ less are alike
constexpr uint64_t kRepetitions = 9, kMostRepetitions = 45, kRepetition_ns = 30'000;
constexpr double kMedianError = 0.93; // the standard error of n values' median: this / sqrt(n) of what their middle half spans
constexpr uint64_t kSure = 6;         // spreads that a difference is wide; likewise parts of a round that a spread is less than

// Each group gets pages of its own; what lies where in a page stays. Returns the bytes needed; addresses become offsets.
uint64_t pack(std::vector<LoopAccess>& accesses, uint64_t rounds) {
    uint64_t bytes = 0;
    const std::vector<AccessGroup> groups = groups_of(accesses);
    const std::vector<LoopAccess> before = accesses;
    for (const AccessGroup& group : groups) {
        const uint64_t lowest = before[group.members.front()].address, way = rounds * magnitude(group.round);
        const uint64_t below = group.round < 0 ? way : 0;
        const uint64_t shift = bytes + (below + kPage - 1) / kPage * kPage + lowest % kPage - lowest;
        uint64_t highest = 0;
        for (const size_t member : group.members) {
            accesses[member].address = before[member].address + shift;
            highest = std::max(highest, accesses[member].address + accesses[member].width);
        }
        bytes = (highest + (group.round > 0 ? way : 0) + 2 * kPage - 1) / kPage * kPage;
    }
    return bytes;
}

// One variant, ready to run.
class Variant {
  public:
    Variant(std::span<const ReplayInstruction> instructions, std::vector<LoopAccess> accesses, uint64_t rounds, uint64_t unrolled,
            bool is_aligned)
        : code_(kCodeBytes + kPage, PROT_READ | PROT_WRITE) {
        const uint64_t bytes = pack(accesses, rounds);
        if (bytes > kMostBytes || !code_)
            return;
        memory_.emplace(bytes, PROT_READ | PROT_WRITE);
        if (!*memory_)
            return;
        for (uint64_t at = 0; at < bytes; at += kPage)
            memory_->data()[at] = 0; // a page that was never written is one page of zeros
        for (LoopAccess& access : accesses)
            access.address += memory_->address();
        ReplayPlan plan{instructions, std::move(accesses), 1, 1, is_aligned};
        plan.unrolled = std::min(unrolled, rounds);
        plan.passes = std::max<uint64_t>(rounds / plan.unrolled, 1);
        rounds_ = plan.unrolled * plan.passes;
        const std::vector<uint8_t> code = replay_code(plan, code_.address(), code_.address() + kCounters);
        if (code.empty() || code.size() > kCodeBytes)
            return;
        std::memcpy(code_.data(), code.data(), code.size());
        works_ = mprotect(code_.data(), kCodeBytes, PROT_READ | PROT_EXEC) == 0;
    }
    bool works() const { return works_; }
    uint64_t rounds() const { return rounds_; } // of a sweep

    uint64_t run_ns(uint64_t sweeps) {
        auto* counters = reinterpret_cast<volatile uint64_t*>(code_.data() + kCounters);
        counters[1] = sweeps;
        void (*function)();
        const uint64_t address = code_.address();
        std::memcpy(&function, &address, sizeof function);
        const uint64_t begin_ns = monotonic_ns();
        function();
        return monotonic_ns() - begin_ns;
    }

  private:
    platform::AnonymousMemory code_; // its last page holds the counters
    std::optional<platform::AnonymousMemory> memory_;
    uint64_t rounds_ = 1;
    bool works_ = false;
};

struct Result {
    std::array<ReplayedLoop, kUnrolled.size()> forms;
};

bool time_both(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
               uint64_t unrolled, ReplayedLoop& result) {
    Variant seen(instructions, accesses, rounds, unrolled, false),
        aligned(instructions, aligned_layout(accesses), rounds, unrolled, true);
    if (!seen.works() || !aligned.works())
        return false;
    uint64_t sweeps = 1;
    for (uint64_t took_ns = 0; sweeps < (uint64_t{1} << 24) && (took_ns = seen.run_ns(sweeps)) < kRepetition_ns;)
        sweeps = took_ns * 8 > kRepetition_ns ? sweeps * kRepetition_ns / took_ns + 1 : sweeps * 4;
    const auto round_ps = [&](uint64_t time_ns) { return time_ns * 1000 / (sweeps * seen.rounds()); };
    // The layouts are compared in turns, one run of each: the clock rate steps by 3 to 6 % at any time, and the
    // fastest run of one may be of another rate than that of the other. A median turn is not spoiled by single ones.
    std::vector<uint64_t> seen_ns;
    std::vector<double> ratios;
    do {
        for (uint64_t i = 0; i < kRepetitions; ++i) {
            const bool is_aligned_first = i % 2 == 1;
            uint64_t aligned_ns = is_aligned_first ? aligned.run_ns(sweeps) : 0;
            seen_ns.push_back(seen.run_ns(sweeps));
            if (!is_aligned_first)
                aligned_ns = aligned.run_ns(sweeps);
            ratios.push_back(static_cast<double>(aligned_ns) / static_cast<double>(std::max<uint64_t>(seen_ns.back(), 1)));
        }
        std::ranges::sort(seen_ns);
        std::ranges::sort(ratios);
        const double seen_ps = static_cast<double>(round_ps(seen_ns[0]));
        result.seen_ps = round_ps(seen_ns[0]);
        result.aligned_ps = static_cast<uint64_t>(std::llround(seen_ps * ratios[ratios.size() / 2]));
        const double middle_half = ratios[ratios.size() * 3 / 4] - ratios[ratios.size() / 4];
        result.spread_ps = static_cast<uint64_t>(
            std::llround(seen_ps * kMedianError * middle_half / std::sqrt(static_cast<double>(ratios.size()))));
        // On a busy machine: again, as long as the difference might be chance.
    } while (seen_ns.size() < kMostRepetitions && result.spread_ps * kSure > result.seen_ps / kSure &&
             result.spread_ps * kSure > std::max(result.seen_ps, result.aligned_ps) - std::min(result.seen_ps, result.aligned_ps));
    return true;
}

double gain_of(const ReplayedLoop& form) {
    return 1 - static_cast<double>(form.aligned_ps) / static_cast<double>(std::max<uint64_t>(form.seen_ps, 1));
}

} // namespace

ReplayedLoop form_like(std::span<const ReplayedLoop> forms, uint64_t round_ps) {
    if (round_ps == 0)
        return std::ranges::min(forms, {}, gain_of);
    const auto distance = [&](const ReplayedLoop& form) {
        return std::abs(static_cast<double>(form.seen_ps) - static_cast<double>(round_ps)) / static_cast<double>(round_ps);
    };
    const double least = distance(std::ranges::min(forms, {}, distance));
    const ReplayedLoop* best = nullptr;
    for (const ReplayedLoop& form : forms)
        if (distance(form) <= least + kAsAlike)
            best = &form;
    return *best;
}

ReplayedLoop replay_loop(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses,
                         uint64_t rounds, uint64_t round_ps) {
    ReplayedLoop replayed;
    auto* result = static_cast<Result*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (result == MAP_FAILED)
        return replayed;
    const int status = platform::run_in_child([&] {
        for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) // it is nobody's concern here
            signal(fault, SIG_DFL);
        bool works = true;
        for (size_t i = 0; i < kUnrolled.size() && works; ++i)
            works = time_both(instructions, accesses, std::max<uint64_t>(rounds, 1), kUnrolled[i], result->forms[i]);
        return works ? 0 : 1;
    });
    if (status == 0)
        replayed = form_like(result->forms, round_ps);
    munmap(result, kPage);
    return replayed;
}

} // namespace plumb::record
