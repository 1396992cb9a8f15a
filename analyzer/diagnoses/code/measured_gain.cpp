#include "diagnoses/code/measured_gain.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

using code::Operation;
using code::ScalarCause;

constexpr double kMuchLonger = 1.5; // a round in the program against its replay: then it waits for what the replay has at hand
constexpr double kMuchLess = 0.8;   // of the time of the packed loop: worth an option of its own

// The one with most time: of an unrolled loop there may be several, and what is left over. Null: none was run, or it took less than the
// program takes.
const model::PackedLoop* of_loop(const std::vector<model::PackedLoop>& run_again, const SampledLoop& loop, bool is_packed) {
    const model::PackedLoop* found = nullptr;
    for (const model::PackedLoop& each : run_again)
        if (each.is_packed == is_packed && each.loop_begin >= loop.facts.begin && each.loop_end < loop.facts.end && each.scalar_ns > 0 &&
            (!found || each.time_ns > found->time_ns))
            found = &each;
    return found && found->round_ns <= kMuchLonger * found->scalar_ns ? found : nullptr;
}

// Whether what is advised makes of the loop what was run packed.
bool is_cured_so(ScalarCause cause, const model::PackedLoop& packed) {
    switch (cause) {
    case ScalarCause::level:
    case ScalarCause::order:
    case ScalarCause::aliasing:
    case ScalarCause::math_errno:
        return !packed.made_adjacent;
    case ScalarCause::stride:
        return true;
    default:
        return false;
    }
}

// Of a round's work: gcc makes one vector of a sum, clang two that wait side by side (without AVX); so does gcc of doubles that
// were floats, as a vector holds twice as many of those.
double packed_round_ns(const SampledLoop& loop, const model::PackedLoop& packed) {
    const bool is_in_two = loop.compiler.kind == code::Compiler::Kind::clang || loop.facts.count(Operation::Kind::convert_precision) > 0;
    return is_in_two && packed.unchained_ns > 0 ? std::min(packed.unchained_ns, packed.packed_ns) : packed.packed_ns;
}

void note_wider_vectors(const SampledLoop& loop, const model::PackedLoop& packed, double after_ns, bool is_left, Finding& finding) {
    if (packed.wide_ns <= 0)
        return;
    finding.evidence["packed_wide_round_ns"] = packed.wide_ns;
    if (packed.wide_ns < kMuchLess * after_ns && !loop.compiler.names_processor && loop.compiler.vector_bytes == packed.vector_bytes &&
        is_left)
        finding.advice.push_back(
            advice_on_wider(fmt::format("with vectors of {} bytes as much took {:.2f} ns", 2 * packed.vector_bytes, packed.wide_ns)));
}

} // namespace

bool set_measured_gain(const SampledLoop& loop, ScalarCause cause, const std::vector<model::PackedLoop>& run_again, double left,
                       Finding& finding) {
    const model::PackedLoop* const packed = of_loop(run_again, loop, false);
    if (!packed || !is_cured_so(cause, *packed))
        return false;
    const double after_ns = packed_round_ns(loop, *packed), saved = std::max(0.0, 1 - after_ns / packed->scalar_ns);
    finding.gain.fraction = finding.cost.fraction * std::min(left, saved);
    finding.gain.how = fmt::format("its instructions were run again here, as they are and for {} numbers at once: {:.2f} ns a round, and "
                                   "{:.2f} ns for as much{}", packed->lanes, packed->scalar_ns, after_ns,
                                   left < saved ? "; memory bandwidth leaves less" : "");
    finding.evidence["scalar_round_ns"] = packed->scalar_ns;
    finding.evidence["packed_round_ns"] = after_ns;
    note_wider_vectors(loop, *packed, after_ns, left > saved, finding);
    return true;
}

bool set_wider_gain(const SampledLoop& loop, const std::vector<model::PackedLoop>& run_again, double left, Finding& finding) {
    const model::PackedLoop* const wider = of_loop(run_again, loop, true);
    if (!wider)
        return false;
    const double saved = std::max(0.0, 1 - wider->packed_ns / wider->scalar_ns);
    finding.gain.fraction = finding.cost.fraction * std::min(left, saved);
    finding.gain.how = fmt::format("its instructions were run again here, as they are and with vectors of {} bytes: {:.2f} ns a round, and "
                                   "{:.2f} ns for as much{}", wider->vector_bytes, wider->scalar_ns, wider->packed_ns,
                                   left < saved ? "; memory bandwidth leaves less" : "; fused multiplications and additions not counted");
    finding.evidence["round_ns"] = wider->scalar_ns;
    finding.evidence["wide_round_ns"] = wider->packed_ns;
    return true;
}

Advice advice_on_wider(const std::string& took) {
    return {"Add -march=x86-64-v3, if all processors that run it have AVX2",
            "servers of Intel have it since 2013, of AMD since 2017" + (took.empty() ? took : "; " + took), "code", ""};
}

} // namespace plumb
