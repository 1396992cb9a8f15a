// Hot loops that compute with vectors of 16 bytes where the processor has some of 32: compiled for any x86-64 processor. Known only
// where the recorder ran the loop again with both.
#include "diagnoses/code/loop_finding.h"
#include "diagnoses/code/measured_gain.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>

namespace plumb {

namespace {

constexpr double kLeastSaved = 0.1; // of the loop's time: less is within what its place in memory changes

class NarrowVectors : public Diagnosis {
  public:
    const char* id() const override { return "narrow-vectors"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        const RunTotals totals = totals_of(input.run);
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        std::set<std::string> known; // what is left over by unrolled loops stands on the same lines
        for (const SampledLoop& loop : sampled_loops_of(input.paths, kLeastLoopShare)) {
            Finding finding = finding_about(loop, totals, id());
            const double left = left_of_bandwidth(input.analyses, loop);
            if (finding.confidence < kLeastConfidence || left < kLeastLeft || is_scattered(input.run, loop) ||
                !set_wider_gain(loop, input.run.processes[loop.process].packed_loops, left, finding) ||
                finding.gain.fraction < kLeastSaved * finding.cost.fraction || !known.insert(finding.subject.name).second)
                continue;
            finding.title = fmt::format("The loop in {}{} computes on 16 bytes at a time, where this processor can on 32", loop.function,
                                        place_in_title(finding));
            finding.advice = {advice_on_wider("")};
            finding.advice[0].how += ". Code that is written with vectors of 16 bytes by hand has to be written anew";
            if (loop.compiler.language == code::Compiler::Language::c || loop.compiler.language == code::Compiler::Language::cpp)
                finding.advice.push_back({"Or put `__attribute__((target_clones(\"default\", \"avx2\")))` in front of the function",
                                          "it is compiled twice then, and the processor decides which one runs when the program starts "
                                          "(gcc, and clang from 14 on)", "code", ""});
            note_unplaced(loop.lines, input.run, finding);
            findings.push_back(std::move(finding));
        }
        return findings;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_narrow_vectors() { return std::make_unique<NarrowVectors>(); }

} // namespace plumb
