#include "record/access/replay/loop_replay.h"

#include "platform/probes/probe.h"
#include "record/access/replay/access_layout.h"
#include "record/access/replay/wide_form.h"
#include "support/memory_units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <functional>
#include <new>
#include <sys/mman.h>

namespace plumb::record {

namespace {

// Rounds in a row. Counting and a jump after each take more than in the program, where one register does for the addresses and
// the end; nearly without them a loop is a bit too fast. See form_like().
constexpr std::array<uint64_t, 2> kUnrolled = {1, 8};
constexpr double kAsAlike = 0.03; // of a round: forms that differ less are alike

double gain_of(const ReplayedPair& form) {
    return 1 - static_cast<double>(form.other_ps) / static_cast<double>(std::max<uint64_t>(form.seen_ps, 1));
}

// Runs `measure(result)` in a child; false: it said so, or was killed.
template <class Result> bool measured_in_child(Result& to, const std::function<bool(Result&)>& measure) {
    static_assert(sizeof(Result) <= kPage);
    void* const shared = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    auto* result = new (shared) Result();
    const int status = platform::run_in_child([&] {
        for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) // it is nobody's concern here
            signal(fault, SIG_DFL);
        return measure(*result) ? 0 : 1;
    });
    to = *result;
    munmap(shared, kPage);
    return status == 0;
}

bool has_wider_vectors() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx");
#else
    return false;
#endif
}

bool has_avx2() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

using Pairs = std::array<ReplayedPair, kUnrolled.size()>;

// As it is, and in another form. False: one of them cannot be run.
bool time_pair(const ReplayForm& loop, const ReplayForm& other, ReplayedPair& result) {
    ReplayVariant seen(loop), changed(other);
    if (!seen.works() || !changed.works())
        return false;
    result = time_in_turns(seen, changed);
    return true;
}

ReplayForm form_of(const PackedForm& packed, uint64_t rounds, uint64_t unrolled) {
    return {packed.instructions, packed.accesses, rounds / packed.lanes, packed.lanes, unrolled, false, packed.element_bytes};
}

using FormOf = std::function<ReplayForm(uint64_t unrolled)>;

// A loop as it is and in another form, with so many rounds in a row as take what they took in the program.
ReplayedPair time_in_child(uint64_t round_ps, const FormOf& as_it_is, const FormOf& other) {
    Pairs pairs;
    const bool works = measured_in_child<Pairs>(pairs, [&](Pairs& result) {
        for (size_t i = 0; i < kUnrolled.size(); ++i)
            if (!time_pair(as_it_is(kUnrolled[i]), other(kUnrolled[i]), result[i]))
                return false;
        return true;
    });
    return works ? pairs[form_like(pairs, round_ps)] : ReplayedPair{};
}

} // namespace

size_t form_like(std::span<const ReplayedPair> forms, uint64_t round_ps) {
    if (round_ps == 0)
        return static_cast<size_t>(std::ranges::min_element(forms, {}, gain_of) - forms.begin());
    const auto distance = [&](const ReplayedPair& form) {
        return std::abs(static_cast<double>(form.seen_ps) - static_cast<double>(round_ps)) / static_cast<double>(round_ps);
    };
    const double least = distance(std::ranges::min(forms, {}, distance));
    size_t best = 0;
    for (size_t i = 0; i < forms.size(); ++i)
        if (distance(forms[i]) <= least + kAsAlike)
            best = i;
    return best;
}

ReplayedPair replay_aligned(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                            uint64_t round_ps) {
    const std::vector<LoopAccess> aligned = aligned_layout(accesses);
    return time_in_child(round_ps, [&](uint64_t unrolled) { return ReplayForm{instructions, accesses, rounds, 1, unrolled, false, 0}; },
                         [&](uint64_t unrolled) { return ReplayForm{instructions, aligned, rounds, 1, unrolled, true, 0}; });
}

ReplayedPair replay_wide(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                         uint64_t round_ps) {
    const auto wide = has_avx2() ? wide_form(instructions, accesses) : std::nullopt;
    if (!wide || rounds < wide->lanes)
        return {};
    return time_in_child(
        round_ps, [&](uint64_t unrolled) { return ReplayForm{instructions, accesses, rounds, 1, unrolled, false, wide->element_bytes}; },
        [&](uint64_t unrolled) { return form_of(*wide, rounds, unrolled); });
}

ReplayedPacked replay_packed(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses, uint64_t rounds,
                             uint64_t round_ps) {
    ReplayedPacked replayed;
    const auto packed = packed_form(instructions, accesses, PackedWidth::as_encoded, 1);
    if (!packed || rounds < packed->lanes)
        return replayed;
    const auto unchained = packed->chains > 0 ? packed_form(instructions, accesses, PackedWidth::as_encoded, 2) : std::nullopt;
    const bool may_be_wide = has_wider_vectors() && packed->vector_bytes == 16;
    const auto wide = may_be_wide ? packed_form(instructions, accesses, PackedWidth::wide, 1) : std::nullopt;
    struct Times {
        Pairs packed;
        size_t form = 0;                  // of `packed`, whose other variants are timed
        ReplayedPair unchained, wide;
    } times;
    const bool works = measured_in_child<Times>(times, [&](Times& result) {
        const auto as_it_is = [&](uint64_t unrolled) {
            return ReplayForm{instructions, accesses, rounds, 1, unrolled, false, packed->element_bytes};
        };
        for (size_t i = 0; i < kUnrolled.size(); ++i)
            if (!time_pair(as_it_is(kUnrolled[i]), form_of(*packed, rounds, kUnrolled[i]), result.packed[i]))
                return false;
        result.form = form_like(result.packed, round_ps);
        const uint64_t unrolled = kUnrolled[result.form];
        if (unchained && rounds >= unchained->lanes)
            time_pair(as_it_is(unrolled), form_of(*unchained, rounds, unrolled), result.unchained);
        if (wide && rounds >= wide->lanes)
            time_pair(as_it_is(unrolled), form_of(*wide, rounds, unrolled), result.wide);
        return true;
    });
    if (!works)
        return replayed;
    replayed.packed = times.packed[times.form];
    // Each was compared with the loop at its own time: what counts is by how much it was faster.
    const auto as_much = [&](const ReplayedPair& pair) {
        return pair.seen_ps == 0 ? 0 : static_cast<uint64_t>(std::llround(static_cast<double>(replayed.packed.seen_ps) * (1 - gain_of(pair))));
    };
    replayed.unchained_ps = as_much(times.unchained);
    replayed.wide_ps = as_much(times.wide);
    replayed.lanes = packed->lanes;
    replayed.vector_bytes = packed->vector_bytes;
    replayed.chains = packed->chains;
    replayed.made_adjacent = packed->made_adjacent;
    return replayed;
}

} // namespace plumb::record
