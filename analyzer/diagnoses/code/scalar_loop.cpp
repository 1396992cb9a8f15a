// Hot loops that compute one floating point number at a time where the processor takes several, for a cause that their machine
// code shows. What they gain is what the recorder measured where it could run them again, packed; elsewhere an upper bound.
#include "analyses/analyses.h"
#include "analyses/loops/sampled_loops.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/code/scalar_advice.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <utility>

namespace plumb {

namespace {

using code::Operation;
using code::ScalarCause;

constexpr double kLeastLoopShare = 0.03; // of the sampled time
constexpr double kMemoryBound = 0.5;   // of a loop's bursts use up the bandwidth, or of its time goes into scattered accesses
constexpr double kLeastLeft = 0.15;    // of the loop's time, to be saved before memory bandwidth is used up
constexpr size_t kMostStrides = 8;
constexpr double kMuchLonger = 1.5;    // a round in the program against its replay: then it waits for what the replay has at hand
constexpr double kMuchLess = 0.8;      // of the time of the packed loop: worth an option of its own

const char* cause_name(ScalarCause cause) {
    switch (cause) {
    case ScalarCause::level:
        return "optimisation level";
    case ScalarCause::order:
        return "order of a reduction";
    case ScalarCause::aliasing:
        return "possible aliasing";
    case ScalarCause::check_fails:
        return "failed check for aliasing";
    case ScalarCause::call:
        return "call";
    case ScalarCause::math_errno:
        return "errno";
    case ScalarCause::stride:
        return "stride";
    case ScalarCause::gather:
        return "gather";
    case ScalarCause::conversion:
        return "conversion";
    case ScalarCause::condition:
        return "condition";
    case ScalarCause::recurrence:
        return "recurrence";
    case ScalarCause::none:
        break;
    }
    return "not known";
}

// Of the loop's time, what can be saved before memory gives no more: 0 to 1; 1 where the loop streams through no memory.
double left_of_bandwidth(const Analyses& analyses, const SampledLoop& loop) {
    double left = 1;
    for (const BandwidthUse& use : analyses.bandwidth)
        for (const LoopUse& each : use.loops) {
            if (each.process != loop.process || each.loop->end < loop.facts.begin || each.loop->begin >= loop.facts.end)
                continue;
            if (each.full_fraction >= kMemoryBound)
                return 0;
            double used = 0, weight = 0;
            for (const model::TrafficBurst& part : each.loop->bursts) {
                const auto burst = std::ranges::lower_bound(use.bursts, part.begin_ns, {}, &HostBurst::begin_ns);
                if (burst == use.bursts.end() || burst->roof_bytes_per_s <= 0)
                    continue;
                used += std::min(1.0, burst->bytes_per_s() / burst->roof_bytes_per_s) * part.threads;
                weight += part.threads;
            }
            if (weight > 0)
                left = std::min(left, 1 - used / weight);
        }
    return left;
}

// Most of its time goes into accesses that fall anywhere into a large piece of memory.
bool is_scattered(const model::Run& run, const SampledLoop& loop) {
    double scattered_ns = 0;
    for (const model::PageScatter& scatter : run.processes[loop.process].page_scatters)
        if (scatter.address >= loop.facts.begin && scatter.address < loop.facts.end)
            scattered_ns += static_cast<double>(scatter.time_ns);
    return scattered_ns >= kMemoryBound * loop.time_ns;
}

class ScalarLoop : public Diagnosis {
  public:
    const char* id() const override { return "scalar-loop"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        const RunTotals totals = totals_of(input.run);
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        std::set<std::pair<std::string, ScalarCause>> known; // what is left over by unrolled loops stands on the same lines
        for (const SampledLoop& loop : sampled_loops_of(input.paths, kLeastLoopShare)) {
            const ScalarCause cause = code::scalar_cause(loop.facts, loop.compiler, loop.around);
            if (cause == ScalarCause::none || is_scattered(input.run, loop))
                continue;
            const double left = left_of_bandwidth(input.analyses, loop);
            if (left < kLeastLeft)
                continue;
            Finding finding = finding_of(loop, cause, left, totals, run_again(input.run, loop));
            note_unplaced(loop.lines, input.run, finding);
            if (finding.confidence >= kLeastConfidence && known.insert({finding.subject.name, cause}).second)
                findings.push_back(std::move(finding));
        }
        return findings;
    }

  private:
    Finding finding_of(const SampledLoop& loop, ScalarCause cause, double left, const RunTotals& totals,
                       const model::PackedLoop* packed) const {
        Finding finding;
        finding.id = id();
        finding.where = loop.lines.heaviest(kMostLines);
        finding.subject.kind = "call-site";
        finding.subject.name =
            finding.where.empty() ? fmt::format("{} in {}", loop.function, loop.module) : place_name(finding.where[0]);
        const double share = std::min(1.0, loop.under_ns * 1e-9 / totals.sampled_s);
        finding.cost.seconds = totals.wall_of_share(share);
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
        finding.cost.how = "estimated";
        const auto hits = static_cast<uint64_t>(std::llround(share * static_cast<double>(totals.samples)));
        finding.confidence = confidence_above(hits, totals.samples, kLeastLoopShare * 0.8);
        finding.title = fmt::format("The loop in {}{} computes one number at a time: {}", loop.function, place_in_title(finding),
                                    scalar_reason(cause, loop));
        add_evidence(loop, cause, finding);
        finding.advice = scalar_advice(cause, loop);
        if (!packed || !is_cured_so(cause, *packed))
            set_bound(loop, cause, left, finding);
        else
            set_measured(loop, *packed, left, finding);
        return finding;
    }

    static std::string place_in_title(const Finding& finding) {
        if (finding.where.empty() || finding.where[0].line == 0)
            return "";
        const std::string& file = finding.where[0].file;
        return fmt::format(" at {}:{}", file.substr(file.rfind('/') + 1), finding.where[0].line);
    }

    // By the recorder, at the end of the run. Null: it was not.
    static const model::PackedLoop* run_again(const model::Run& run, const SampledLoop& loop) {
        const model::PackedLoop* found = nullptr;
        for (const model::PackedLoop& each : run.processes[loop.process].packed_loops)
            if (each.loop_begin >= loop.facts.begin && each.loop_end < loop.facts.end && (!found || each.time_ns > found->time_ns))
                found = &each;
        return found;
    }

    // Whether what was run took what the program takes, and what is advised makes of the loop what was run packed.
    static bool is_cured_so(ScalarCause cause, const model::PackedLoop& packed) {
        if (packed.round_ns > kMuchLonger * packed.scalar_ns)
            return false;
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

    // Of a round's work: gcc makes one vector of a sum, clang two that wait side by side (without AVX).
    static double packed_ns(const SampledLoop& loop, const model::PackedLoop& packed) {
        return loop.compiler.kind == code::Compiler::Kind::clang && packed.unchained_ns > 0 ? std::min(packed.unchained_ns, packed.packed_ns)
                                                                                           : packed.packed_ns;
    }

    static void set_measured(const SampledLoop& loop, const model::PackedLoop& packed, double left, Finding& finding) {
        const double after_ns = packed_ns(loop, packed), saved = std::max(0.0, 1 - after_ns / packed.scalar_ns);
        finding.gain.fraction = finding.cost.fraction * std::min(left, saved);
        finding.gain.how = fmt::format("its instructions were run again here, as they are and for {} numbers at once: {:.2f} ns a round, and "
                                       "{:.2f} ns for as much{}", packed.lanes, packed.scalar_ns, after_ns,
                                       left < saved ? "; memory bandwidth leaves less" : "");
        finding.evidence["scalar_round_ns"] = packed.scalar_ns;
        finding.evidence["packed_round_ns"] = after_ns;
        if (packed.wide_ns <= 0)
            return;
        finding.evidence["packed_wide_round_ns"] = packed.wide_ns;
        if (packed.wide_ns < kMuchLess * after_ns && !loop.compiler.names_processor && loop.compiler.vector_bytes == packed.vector_bytes &&
            left > saved)
            finding.advice.push_back({"Add -march=x86-64-v3, if all processors that run it have AVX2",
                                      fmt::format("servers of Intel have it since 2013, of AMD since 2017; with vectors of {} bytes as much took "
                                                  "{:.2f} ns", 2 * packed.vector_bytes, packed.wide_ns), "code", ""});
    }

    static void set_bound(const SampledLoop& loop, ScalarCause cause, double left, Finding& finding) {
        const code::ScalarGain saved = code::gain_of(cause, loop.facts, loop.compiler.vector_bytes);
        if (cause == ScalarCause::recurrence) {
            finding.fixed_severity = Severity::info;
            finding.gain = {0, "nothing: no vector instruction computes rounds that wait for one another"};
            return;
        }
        const unsigned lanes = loop.compiler.vector_bytes / loop.facts.element_bytes();
        finding.gain.fraction = finding.cost.fraction * std::min(left, saved.at_most);
        finding.gain.is_at_most = true;
        finding.gain.likely = cause == ScalarCause::check_fails ? 0 : finding.cost.fraction * std::min(left, saved.likely);
        finding.gain.how = fmt::format("a bound: vectors hold {} elements of {} bytes here{}; how fast the packed loop is was not measured",
                                       lanes, loop.facts.element_bytes(),
                                       left < saved.at_most ? ", and memory bandwidth leaves no more" : "");
    }

    static void add_evidence(const SampledLoop& loop, ScalarCause cause, Finding& finding) {
        const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
        const code::LoopFacts& facts = loop.facts;
        auto& evidence = finding.evidence;
        evidence["cause"] = std::string(cause_name(cause));
        evidence["scalar_operation_count"] = number(facts.scalar_operations);
        evidence["packed_operation_count"] = number(facts.packed_operations);
        evidence["element_bytes"] = number(facts.element_bytes());
        evidence["instruction_count"] = number(facts.instructions);
        evidence["load_count"] = number(facts.loads);
        evidence["store_count"] = number(facts.stores);
        if (const unsigned slow = facts.count(Operation::Kind::divide) + facts.count(Operation::Kind::square_root); slow > 0)
            evidence["division_and_root_count"] = number(slow);
        if (const unsigned conversions = facts.count(Operation::Kind::convert_precision) + facts.count(Operation::Kind::convert_integer);
            conversions > 0)
            evidence["conversion_count"] = number(conversions);
        if (facts.chain_cycles > 0) {
            evidence["chain_cycles"] = facts.chain_cycles;
            evidence["throughput_cycles"] = facts.throughput_cycles;
        }
        std::vector<int64_t> strides;
        for (const code::Stream& stream : facts.accesses.streams)
            if (stream.floating && stream.walk == code::Stream::Walk::strided && strides.size() < kMostStrides &&
                std::ranges::find(strides, stream.stride) == strides.end())
                strides.push_back(stream.stride);
        if (!strides.empty())
            evidence["stride_bytes"] = strides;
        if (const double touched = code::touched_share(facts.accesses); touched < 1)
            evidence["touched_fraction"] = touched;
        if (loop.around.rounds > 0)
            evidence["round_count"] = number(static_cast<uint64_t>(std::min(1e9, loop.around.rounds)));
        std::vector<std::string> callees;
        std::ranges::copy_if(loop.callees, std::back_inserter(callees), [](const std::string& name) { return !name.empty(); });
        if (!callees.empty())
            evidence["called_functions"] = callees;
        evidence["compiler"] = loop.compiler.name() + (loop.compiler.level_name.empty() ? "" : " " + loop.compiler.level_name);
        evidence["time_sample_count"] = number(loop.samples);
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_scalar_loop() { return std::make_unique<ScalarLoop>(); }

} // namespace plumb
