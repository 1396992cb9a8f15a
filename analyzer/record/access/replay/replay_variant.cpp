#include "record/access/replay/replay_variant.h"

#include "record/access/replay/access_layout.h"
#include "record/access/replay/replay_code.h"
#include "record/run/node_trace_writer.h"
#include "support/magnitude.h"
#include "support/memory_units.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sys/mman.h>

namespace plumb::record {

namespace {

constexpr uint64_t kCodeBytes = 1 << 16, kMostBytes = 4u << 20;
constexpr uint64_t kCounters = kCodeBytes + 2080; // few loops access just these lines of each page
constexpr uint64_t kFill = kCounters + 32, kFillBytes = 16;
constexpr uint64_t kRepetitions = 9, kMostRepetitions = 45, kRepetition_ns = 30'000;
constexpr double kMedianError = 0.93; // the standard error of n values' median: this / sqrt(n) of what their middle half spans
constexpr uint64_t kSure = 6;         // spreads that a difference is wide; likewise parts of a round that a spread is less than

void fill(char* memory, uint64_t bytes, unsigned element_bytes) {
    constexpr double kDouble = 1.5;
    constexpr float kFloat = 1.5f;
    const void* const number = element_bytes == 8 ? static_cast<const void*>(&kDouble) : &kFloat;
    for (uint64_t at = 0; element_bytes != 0 && at < bytes; at += element_bytes)
        std::memcpy(memory + at, number, element_bytes);
}

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

} // namespace

ReplayVariant::ReplayVariant(ReplayForm form) : code_(kCodeBytes + kPage, PROT_READ | PROT_WRITE) {
    const uint64_t rounds = std::max<uint64_t>(form.rounds, 1);
    const uint64_t bytes = pack(form.accesses, rounds);
    if (bytes > kMostBytes || !code_)
        return;
    memory_.emplace(bytes, PROT_READ | PROT_WRITE);
    if (!*memory_)
        return;
    for (uint64_t at = 0; at < bytes; at += kPage)
        memory_->data()[at] = 0; // a page that was never written is one page of zeros
    fill(memory_->data(), bytes, form.element_bytes);
    fill(code_.data() + kFill, kFillBytes, form.element_bytes);
    for (LoopAccess& access : form.accesses)
        access.address += memory_->address();
    ReplayPlan plan{form.instructions, std::move(form.accesses), 1, 1, form.folds, form.element_bytes != 0};
    plan.unrolled = std::min(form.unrolled, rounds);
    plan.passes = std::max<uint64_t>(rounds / plan.unrolled, 1);
    work_ = plan.unrolled * plan.passes * form.work;
    const std::vector<uint8_t> code = replay_code(plan, code_.address(), code_.address() + kCounters);
    if (code.empty() || code.size() > kCodeBytes)
        return;
    std::memcpy(code_.data(), code.data(), code.size());
    works_ = mprotect(code_.data(), kCodeBytes, PROT_READ | PROT_EXEC) == 0;
}

uint64_t ReplayVariant::run_ns(uint64_t sweeps) {
    auto* counters = reinterpret_cast<volatile uint64_t*>(code_.data() + kCounters);
    counters[1] = sweeps;
    void (*function)();
    const uint64_t address = code_.address();
    std::memcpy(&function, &address, sizeof function);
    const uint64_t begin_ns = monotonic_ns();
    function();
    return monotonic_ns() - begin_ns;
}

ReplayedPair time_in_turns(ReplayVariant& seen, ReplayVariant& other) {
    ReplayedPair result;
    uint64_t sweeps = 1;
    for (uint64_t took_ns = 0; sweeps < (uint64_t{1} << 24) && (took_ns = seen.run_ns(sweeps)) < kRepetition_ns;)
        sweeps = took_ns * 8 > kRepetition_ns ? sweeps * kRepetition_ns / took_ns + 1 : sweeps * 4;
    const auto round_ps = [&](uint64_t time_ns) { return time_ns * 1000 / (sweeps * seen.work()); };
    const double work = static_cast<double>(seen.work()) / static_cast<double>(other.work());
    // The two are compared in turns, one run of each: the clock rate steps by 3 to 6 % at any time, and the fastest run of one may be
    // of another rate than that of the other. A median turn is not spoiled by single ones.
    std::vector<uint64_t> seen_ns;
    std::vector<double> ratios;
    do {
        for (uint64_t i = 0; i < kRepetitions; ++i) {
            const bool is_other_first = i % 2 == 1;
            uint64_t other_ns = is_other_first ? other.run_ns(sweeps) : 0;
            seen_ns.push_back(seen.run_ns(sweeps));
            if (!is_other_first)
                other_ns = other.run_ns(sweeps);
            ratios.push_back(work * static_cast<double>(other_ns) / static_cast<double>(std::max<uint64_t>(seen_ns.back(), 1)));
        }
        std::ranges::sort(seen_ns);
        std::ranges::sort(ratios);
        const double seen_ps = static_cast<double>(round_ps(seen_ns[0]));
        result.seen_ps = round_ps(seen_ns[0]);
        result.other_ps = static_cast<uint64_t>(std::llround(seen_ps * ratios[ratios.size() / 2]));
        const double middle_half = ratios[ratios.size() * 3 / 4] - ratios[ratios.size() / 4];
        result.spread_ps = static_cast<uint64_t>(
            std::llround(seen_ps * kMedianError * middle_half / std::sqrt(static_cast<double>(ratios.size()))));
        // On a busy machine: again, as long as the difference might be chance.
    } while (seen_ns.size() < kMostRepetitions && result.spread_ps * kSure > result.seen_ps / kSure &&
             result.spread_ps * kSure > std::max(result.seen_ps, result.other_ps) - std::min(result.seen_ps, result.other_ps));
    return result;
}

} // namespace plumb::record
