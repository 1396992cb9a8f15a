// Unaligned accesses by data object, with the change of layout that cures them. On most CPUs an access inside a cache
// line costs nothing, so severity follows the cost: below 1 % of the run it is reported as info. What crossings of lines
// cost is reported by line-split-access where it is more than that.
#include "analyses/analyses.h"
#include "analyses/lines/launch_command.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostFindings = 10;
constexpr uint64_t kLeastHits = 10; // of lower bounds: fewer are a single parse of a header

class UnalignedAccess : public Diagnosis {
  public:
    const char* id() const override { return "unaligned-access"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const UnalignedAccesses& accesses = input.analyses.accesses;
        std::vector<Finding> findings;
        for (const UnalignedObject& object : unaligned_objects(accesses, is_plain)) {
            if (findings.size() == kMostFindings)
                break;
            if (object.trapped() && object.counts.hits < kLeastHits && !object.counts.exact)
                continue;
            Finding finding = finding_of(input, accesses, object);
            if (finding.gain.certain() >= kLeastNotedFraction || !is_out_of_reach(input.run, object, finding))
                findings.push_back(std::move(finding));
        }
        return findings;
    }

  private:
    // Inside a library or an interpreter, in data of its own: neither the code nor the data has a line of the user's.
    static bool is_out_of_reach(const model::Run& run, const UnalignedObject& object, const Finding& finding) {
        const bool has_data = object.data.kind == TouchedData::Kind::allocation ? ends_in_line(object.data.name)
                                                                                : object.data.kind != TouchedData::Kind::unknown;
        if (has_data)
            return false;
        if (!object.called_code.empty() || finding.where.empty())
            return true;
        const Location& code = finding.where.front();
        const auto is_it = [&](const model::Process& process) {
            return is_users_program(process) && process.executable.substr(process.executable.rfind('/') + 1) == code.module;
        };
        return code.file.empty() && !code.module.empty() && std::ranges::none_of(run.processes, is_it);
    }

    // "/src/app.c:12", not "reserve in libjvm.so".
    static bool ends_in_line(const std::string& place) {
        const size_t colon = place.rfind(':');
        return colon != std::string::npos && colon + 1 < place.size() &&
               place.find_first_not_of("0123456789", colon + 1) == std::string::npos;
    }

    // Packed accesses need no natural alignment, locked ones have a diagnosis of their own when it matters.
    static bool is_plain(const AccessLine& line) { return !line.kind.packed && !line.kind.locked; }

    Finding finding_of(const DiagnosisInput& input, const UnalignedAccesses& accesses,
                       const UnalignedObject& object) const {
        Finding finding = object_finding(object, accesses);
        finding.id = id();
        AccessCost cost = object.cost;
        if (is_told_as_crossing(cost, accesses, input.run))
            cost.line_s = cost.page_s = cost.measured_s = 0;
        finding.cost = run_cost(cost, accesses, input.run);
        const std::string what = fmt::format("{} {} {}", access_words(object.kind), access_preposition(object.kind),
                                             object_words(object.data));
        finding.title = object.trapped()
                            ? fmt::format("Unaligned {}, {}", what, count_words(object))
                            : fmt::format("Unaligned {}, in {} of the sampled time of these lines", what, sampled_share(object));
        if (!object.called_code.empty())
            finding.title += ", in " + object.called_code;
        if (!object.cause.why.empty())
            finding.title += ": " + object.cause.why;
        finding.gain = {finding.cost.fraction, "all of it, once the accesses are aligned", certain_gain(finding.cost, cost)};
        if (finding.gain.certain() < kLeastNotedFraction)
            finding.advice.push_back(no_need(object));
        if (object.cause.cause == Misalignment::Cause::unknown && object.trapped())
            finding.advice.push_back({"Record every allocation to name the data",
                "the block it lies in was too small to be sampled, or its type is not in the debug information (-g)",
                "launch", plumb_run_line(input.run, "--align=exact --heap=full")});
        return finding;
    }

    static std::string sampled_share(const UnalignedObject& object) {
        return fmt::format("{} samples", object.samples);
    }

    static Advice no_need(const UnalignedObject& object) {
        if (!object.priced)
            return {"The cost of such accesses was not measured here", "so the gain is not known", "code", ""};
        return {"On this CPU no change is needed for speed",
                "the accesses cost less than 1 % of the run here; they may cost more on other CPUs, in vectorised loops, or if "
                "they are locked or atomic", "code", ""};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_unaligned_access() { return std::make_unique<UnalignedAccess>(); }

} // namespace plumb
