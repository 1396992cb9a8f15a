// Hot loops that compute one floating point number at a time where the processor takes several, for a cause that their machine
// code shows. What they gain is what the recorder measured where it could run them again, packed; elsewhere an upper bound.
#include "analyses/analyses.h"
#include "analyses/loops/sampled_loops.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/code/loop_finding.h"
#include "diagnoses/code/measured_gain.h"
#include "diagnoses/code/scalar_advice.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <utility>

namespace plumb {

namespace {

using code::Operation;
using code::ScalarCause;

constexpr size_t kMostStrides = 8;
constexpr int kPacksSome = 2; // from this level on compilers pack loops

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
            Finding finding = finding_of(loop, cause, left, totals, input.run.processes[loop.process].packed_loops);
            note_unplaced(loop.lines, input.run, finding);
            if (finding.confidence >= kLeastConfidence && known.insert({finding.subject.name, cause}).second)
                findings.push_back(std::move(finding));
        }
        return findings;
    }

  private:
    Finding finding_of(const SampledLoop& loop, ScalarCause cause, double left, const RunTotals& totals,
                       const std::vector<model::PackedLoop>& run_again) const {
        Finding finding = finding_about(loop, totals, id());
        finding.title = fmt::format("The loop in {}{} computes one number at a time: {}", loop.function, place_in_title(finding),
                                    scalar_reason(cause, loop));
        add_evidence(loop, cause, finding);
        finding.advice = scalar_advice(cause, loop);
        if (!set_measured_gain(loop, cause, run_again, left, finding))
            set_bound(loop, cause, left, finding);
        return finding;
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
        // Nothing but its options keeps the compiler from packing it, so it is mostly one that can be run again. If it was not, it
        // usually goes on for a few rounds at a time or through much memory, and gains little. Where the recorder cannot run loops
        // again at all (no decoder, no registers with the samples), such findings are information, too.
        if (cause == ScalarCause::level && loop.compiler.level >= kPacksSome)
            finding.fixed_severity = Severity::info;
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
