// Accesses that cross a cache line or a page and cost noticeable time: unaligned ones that the trap caught, and vector
// ones, which never trap and are seen by address sampling. Page crossings are named apart: they cost many times more.
#include "analyses/analyses.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastConfidence = 0.75;
constexpr double kPagesMatter = 0.5; // of the cost of all crossings

class LineSplitAccess : public Diagnosis {
  public:
    const char* id() const override { return "line-split-access"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const UnalignedAccesses& accesses = input.analyses.accesses;
        std::vector<Finding> findings;
        // Scalar and packed accesses apart: they are cured in different ways, and only the former are unaligned.
        for (const bool packed : {false, true})
            for (const UnalignedObject& object : unaligned_objects(accesses, [&](const AccessLine& line) {
                     return line.kind.packed == packed && !line.kind.locked;
                 })) {
                if (!is_told_as_crossing(object.cost, accesses, input.run))
                    continue;
                Finding finding = finding_of(input, accesses, object);
                if (finding.confidence >= kLeastConfidence)
                    findings.push_back(std::move(finding));
            }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const UnalignedAccesses& accesses,
                       const UnalignedObject& object) const {
        Finding finding = object_finding(object, accesses);
        finding.id = id();
        AccessCost cost = object.cost;
        cost.within_s = cost.split_lock_s = 0;
        finding.cost = run_cost(cost, accesses, input.run);
        const bool pages = cost.page_s >= kPagesMatter * cost.total_s();
        finding.title = fmt::format("{} of the {} {} {} cross a {}", share_words(object, pages),
                                    access_words(object.kind, true), access_preposition(object.kind),
                                    object_words(object.data), pages ? "page" : "cache line");
        if (!object.cause.why.empty())
            finding.title += ": " + object.cause.why;
        finding.evidence["page_crossing_cost_fraction"] = cost.page_s / cost.total_s();
        finding.gain = {finding.cost.fraction, "the time that as many aligned accesses would save",
                        certain_gain(finding.cost)};
        if (object.kind.packed) {
            std::erase_if(finding.advice, [](const Advice& advice) { return advice.applies == "code"; });
            finding.advice.push_back(align_vectors(object));
        }
        return finding;
    }

    static std::string share_words(const UnalignedObject& object, bool pages) {
        const uint64_t crossings = object.trapped() ? pages ? object.counts.page_crossings : object.counts.line_crossings
                                   : pages          ? object.sampled_page_crossings
                                                    : object.sampled_line_crossings;
        const double share =
            static_cast<double>(crossings) / static_cast<double>(object.trapped() ? object.counts.hits : object.samples);
        return fmt::format("{:.{}f} %{}", 100 * share, share < 0.0995 ? 1 : 0,
                           object.trapped() ? "" : " (of the time, by address sampling)");
    }

    static Advice align_vectors(const UnalignedObject& object) {
        const uint64_t bytes = std::max<uint64_t>(object.kind.width, 16);
        return {fmt::format("Begin the array at a multiple of {} bytes", std::max<uint64_t>(bytes, 64)),
                fmt::format("use aligned_alloc(64, ...), alignas(64) or -falign-commons, and pad the row length to a multiple "
                            "of {} bytes. Accesses that are shifted on purpose (stencils) cross lines in any case", bytes),
                "code", ""};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_line_split_access() { return std::make_unique<LineSplitAccess>(); }

} // namespace plumb
