// Accesses that fall anywhere into much memory: nearly each of them needs another page, and with small pages the processor
// keeps the translations of a few MiB only. What huge pages save was timed after the run, by the recorder, on accesses of the
// same form.
#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/memory/memory_objects.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/memory/page_size_cause.h"
#include "diagnoses/registry.h"
#include "model/alignment.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastTouching = 0.05; // of what the accesses save: less is not worth a word
constexpr double kLeastSpeedUp = 1.05; // of the accesses alone: two timings of the same differ by less
constexpr double kHugePage = 2 << 20;
constexpr double kUnwatched = 0.8;     // trust where time samples alone say that accesses which follow one another lie apart

struct ScatteredObject {
    NamedMemory memory;
    model::PageScatter scatter; // the one with most time on small pages
    model::HugePages settings;
    double cost_ns = 0;  // CPU time that huge pages would save
    double small_ns = 0; // of all accesses to it on small pages
    double time_ns = 0;
    std::map<std::pair<size_t, uint64_t>, double> touch_ns; // of each area, by process and start: what huge pages cost to get
    uint64_t samples = 0;
    bool timed = false;
    LineShares lines;
};

bool is_timed(const model::PageScatter& scatter) { return scatter.small_page_ns > 0 && scatter.huge_page_ns > 0; }

double cost_of(const model::PageScatter& scatter) {
    if (!is_timed(scatter) || scatter.small_page_ns < kLeastSpeedUp * scatter.huge_page_ns)
        return 0;
    return static_cast<double>(scatter.small_ns) * (1 - scatter.huge_page_ns / scatter.small_page_ns);
}

// What the area takes longer to touch for the first time on huge pages: they must be found, and zeroed as a whole.
double touching_cost_of(const model::PageScatter& scatter) {
    const uint64_t on_small = scatter.resident_bytes - std::min(scatter.huge_bytes, scatter.resident_bytes);
    return std::max(0.0, scatter.huge_touch_ns - scatter.small_touch_ns) * static_cast<double>(on_small) / kHugePage;
}

std::string mebibytes(uint64_t bytes) { return grouped((bytes + (1 << 19)) >> 20) + " MiB"; }

// Memory that belongs to no variable and no large block is known by its mapping.
NamedMemory named(MemoryNames& names, const model::PageScatter& scatter) {
    NamedMemory memory = names.at(scatter.last_address, model::MemoryTraffic::kNone, scatter.first_ns, scatter.last_ns,
                                  scatter.kind.width, scatter.address);
    if (memory.has_name())
        return memory;
    const model::MemoryArea& area = scatter.area;
    if (area.heap)
        return names.heap_blocks();
    memory.kind = area.path.empty() ? NamedMemory::Kind::mapping : NamedMemory::Kind::file;
    memory.name = !area.path.empty() ? area.path
                                     : "anonymous memory (small blocks of the heap, or mapped before the program began)";
    return memory;
}

class PageSize : public Diagnosis {
  public:
    const char* id() const override { return "page-size"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::map<std::string, ScatteredObject> objects;
        for (size_t process = 0; process < input.run.processes.size(); ++process) {
            const auto& scatters = input.run.processes[process].page_scatters;
            if (scatters.empty())
                continue;
            MemoryNames names(input.paths, process);
            const model::Host* host = host_of(input.run, input.run.processes[process]);
            for (const model::PageScatter& scatter : scatters)
                if (cost_of(scatter) > 0 || !is_timed(scatter))
                    add(input.paths, process, scatter, named(names, scatter), host, objects);
        }
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings;
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        for (const auto& [key, object] : objects) {
            Finding finding = finding_of(object, totals, input.run);
            if (finding.cost.fraction >= kLeastNotedFraction && finding.confidence >= kLeastConfidence)
                findings.push_back(std::move(finding));
        }
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& each) { return each.cost.seconds; });
        return findings;
    }

  private:
    static void add(model::CallPaths& paths, size_t process, const model::PageScatter& scatter, NamedMemory memory,
                    const model::Host* host, std::map<std::string, ScatteredObject>& objects) {
        const std::string key = fmt::format("{} {}\n{}", is_timed(scatter), static_cast<int>(memory.kind), memory.name);
        const auto [found, is_new] = objects.try_emplace(key);
        ScatteredObject& object = found->second;
        if (is_new || scatter.small_ns > object.scatter.small_ns) {
            object.memory = std::move(memory);
            object.scatter = scatter;
            object.settings = host ? host->huge_pages : model::HugePages{};
        }
        object.timed = is_timed(scatter);
        object.cost_ns += cost_of(scatter);
        object.small_ns += static_cast<double>(scatter.small_ns);
        object.touch_ns[{process, scatter.area.start}] = touching_cost_of(scatter);
        object.time_ns += static_cast<double>(scatter.time_ns);
        object.samples += scatter.samples;
        object.lines.add(paths.user_frame_at(process, scatter.address, 0), static_cast<double>(scatter.small_ns));
    }

    Finding finding_of(const ScatteredObject& object, const RunTotals& totals, const model::Run& run) const {
        const model::PageScatter& scatter = object.scatter;
        Finding finding;
        finding.id = id();
        finding.where = object.lines.heaviest(kMostLines);
        const double cost_ns = object.timed ? object.cost_ns : object.small_ns;
        finding.cost.seconds = totals.wall_of_share(std::min(1.0, cost_ns * 1e-9 / totals.sampled_s));
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
        finding.cost.how = object.timed ? "estimated" : "bound";
        finding.confidence = confidence_above(object.samples, totals.samples, kLeastNotedFraction) *
                             (scatter.watched > 0 ? 1 : kUnwatched);
        finding.gain = gain_of(object, finding.cost.fraction, totals);
        finding.title = fmt::format("Accesses to {} scatter over {}{}: nearly every access needs another page",
                                    object.memory.words(), mebibytes(scatter.footprint_bytes), on_pages(object));
        finding.subject = object.memory.subject();
        add_evidence(object, finding);
        const SmallPageCause cause = small_page_cause(scatter, object.settings);
        finding.evidence["why_small"] = words(cause, scatter, object.settings);
        const bool from_allocator = object.memory.by_allocator || object.memory.kind == NamedMemory::Kind::small_blocks ||
                                    object.memory.kind == NamedMemory::Kind::mapping;
        finding.advice = huge_page_advice(cause, scatter, from_allocator, run);
        return finding;
    }

    static double huge_fraction(const ScatteredObject& object) {
        return object.time_ns > 0 ? 1 - object.small_ns / object.time_ns : 0;
    }

    static std::string on_pages(const ScatteredObject& object) {
        const double huge = huge_fraction(object);
        return huge < 0.005 ? " on small pages" : fmt::format(", {:.0f} % of them on small pages", 100 * (1 - huge));
    }

    static Gain gain_of(const ScatteredObject& object, double fraction, const RunTotals& totals) {
        const model::PageScatter& scatter = object.scatter;
        if (!object.timed)
            return {0, "not known: " + (scatter.why_not_timed.empty() ? "such accesses were not timed here"
                                                                      : scatter.why_not_timed)};
        std::string how = fmt::format("{} over {}, timed on this machine: {:.1f} ns each with small pages, {:.1f} ns with huge "
                                      "ones",
                                      scatter.chases ? "accesses that wait for one another" : "independent accesses",
                                      mebibytes(scatter.timed_bytes), scatter.small_page_ns, scatter.huge_page_ns);
        if (scatter.timed_bytes < scatter.footprint_bytes / 2)
            how += "; over all of it the difference is larger";
        double touching_ns = 0;
        for (const auto& [area, cost_ns] : object.touch_ns)
            touching_ns += cost_ns;
        if (touching_ns < kLeastTouching * object.cost_ns)
            return {fraction, how};
        how += fmt::format("; less {} that it takes longer to touch so many huge pages first: {:.2g} ms each, small pages of the "
                           "same size {:.2g} ms",
                           format_seconds(touching_ns * 1e-9), scatter.huge_touch_ns * 1e-6, scatter.small_touch_ns * 1e-6);
        const double touching = totals.wall_of_share(std::min(1.0, touching_ns * 1e-9 / totals.sampled_s)) / totals.wall_s;
        return {std::max(0.0, fraction - touching), how};
    }

    static void add_evidence(const ScatteredObject& object, Finding& finding) {
        const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
        const model::PageScatter& scatter = object.scatter;
        auto& evidence = finding.evidence;
        evidence["footprint_bytes"] = number(scatter.footprint_bytes);
        evidence["small_page_count"] = number(scatter.footprint_bytes / model::kPageBytes);
        evidence["huge_page_fraction"] = huge_fraction(object);
        evidence["looked_at_sample_count"] = number(scatter.places);
        evidence["touched_page_count"] = number(scatter.pages);
        evidence["address_sample_count"] = number(object.samples);
        evidence["waits_for_itself"] = scatter.chases;
        if (scatter.watched > 0) {
            evidence["watched_access_count"] = number(scatter.watched);
            evidence["new_page_fraction"] = static_cast<double>(scatter.new_pages) / static_cast<double>(scatter.watched);
        }
        if (!object.settings.enabled.empty())
            evidence["huge_pages_setting"] = object.settings.enabled;
        if (!object.settings.defrag.empty())
            evidence["huge_pages_defrag_setting"] = object.settings.defrag;
        if (scatter.small_page_ns > 0)
            evidence["timed_small_page_ns"] = scatter.small_page_ns;
        if (scatter.huge_page_ns > 0)
            evidence["timed_huge_page_ns"] = scatter.huge_page_ns;
        evidence["seen_by"] = std::vector<std::string>{"address sampling", "/proc/PID/smaps"};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_page_size() { return std::make_unique<PageSize>(); }

} // namespace plumb
