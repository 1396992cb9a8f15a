// Accesses that cross a cache line or a page and cost noticeable time: unaligned ones that the trap caught, and vector
// ones, which never trap and are seen by address sampling. Page crossings are named apart: they cost many times more.
#include "analyses/analyses.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace plumb {

namespace {

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
        finding.gain = {finding.cost.fraction,
                        object.replayed ? "what the loop took less when it was run again with aligned addresses"
                                        : "the time that as many aligned accesses would save",
                        certain_gain(finding.cost, cost)};
        if (const uint64_t record = record_bytes(object)) {
            if (finding.advice.empty())
                finding.advice.push_back({"Let the compiler lay out the records",
                    fmt::format("records are {} bytes apart, so that their members lie somewhere: without packed, with the members "
                                "ordered by size, or padded to a multiple of 8 bytes, none crosses a line", record), "code", ""});
        } else if (object.kind.packed) {
            std::erase_if(finding.advice, [](const Advice& advice) { return advice.applies == "code"; });
            finding.advice.push_back(align_vectors(object));
        }
        return finding;
    }

    static std::string share_words(const UnalignedObject& object, bool pages) {
        if (object.replayed && !object.trapped())
            return percent(pages ? object.replayed->page_share : object.replayed->line_share);
        const uint64_t crossings = object.trapped() ? pages ? object.counts.page_crossings : object.counts.line_crossings
                                   : pages          ? object.sampled_page_crossings
                                                    : object.sampled_line_crossings;
        const double share =
            static_cast<double>(crossings) / static_cast<double>(object.trapped() ? object.counts.hits : object.samples);
        return percent(share) + (object.trapped() ? "" : " (of the time, by address sampling)");
    }

    // The distance of what the loop accesses in one round and in the next, where that is no multiple of the access's width; 0: it
    // is, or it is not known.
    static uint64_t record_bytes(const UnalignedObject& object) {
        if (!object.replayed || object.kind.width == 0)
            return 0;
        const uint64_t bytes = static_cast<uint64_t>(std::abs(object.replayed->round));
        return bytes % object.kind.width ? bytes : 0;
    }

    static std::string percent(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0); }

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
