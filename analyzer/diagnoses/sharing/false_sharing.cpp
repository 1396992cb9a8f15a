// Threads that run at the same time and use different bytes of one cache line, at least one of them to write: each write
// takes the line away from the others, although nobody needs what the other one wrote.
#include "diagnoses/registry.h"
#include "diagnoses/sharing/sharing_finding.h"

#include <fmt/format.h>

namespace plumb {

namespace {

uint64_t rounded_up(uint64_t bytes, uint64_t block) { return (bytes + block - 1) / block * block; }

// One thread's part of an array, where that is known: the element, or whole lines otherwise.
Advice padding_advice(const SharedObject& object, Finding& finding) {
    const SharedPlace& place = object.place;
    const uint64_t line = object.line_bytes, spacing = object.spacing();
    const bool by_element = place.element_bytes > 0 && spacing > 0 && spacing % place.element_bytes == 0;
    if (spacing > 0 && spacing < line) {
        finding.evidence["spacing_bytes"] = static_cast<int64_t>(spacing);
        finding.evidence["padding_bytes"] = static_cast<int64_t>(rounded_up(spacing, line) - spacing);
    }
    const std::string neighbours = " Some processors fetch lines in pairs; use twice as much to be safe";
    if (by_element && spacing == place.element_bytes)
        return {fmt::format("Give each element a cache line of its own: {} bytes instead of {}",
                            rounded_up(spacing, line), spacing),
                fmt::format("alignas({}) at the type of the elements (it adds {} bytes to each, and aligns the array).",
                            line, rounded_up(spacing, line) - spacing) + neighbours,
                "code", ""};
    if (by_element)
        return {fmt::format("Start the part of each thread at a multiple of {} bytes", line),
                fmt::format("{} elements of {} bytes a thread instead of {}, in an array aligned to {} bytes.",
                            rounded_up(spacing, line) / place.element_bytes, place.element_bytes,
                            spacing / place.element_bytes, line) + neighbours,
                "code", ""};
    if (spacing > 0 && spacing < line)
        return {fmt::format("Put what different threads use into different cache lines: {} bytes apart instead of {}",
                            rounded_up(spacing, line), spacing),
                fmt::format("alignas({}) at each of them, or {} bytes of padding in between; heap blocks: "
                            "aligned_alloc({}, ...) with a size rounded up to {}.",
                            line, rounded_up(spacing, line) - spacing, line, line) + neighbours,
                "code", ""};
    return {fmt::format("Start what different threads use at a multiple of {} bytes", line),
            fmt::format("alignas({}), or aligned_alloc({}, ...) with a size rounded up to {}.", line, line, line) + neighbours,
            "code", ""};
}

class FalseSharing : public Diagnosis {
  public:
    const char* id() const override { return "false-sharing"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const SharedObject& object : shared_objects(input.paths, Sharing::other_bytes)) {
            std::optional<Finding> finding = sharing_finding(input, object, id());
            if (!finding)
                continue;
            if (object.timed)
                finding->gain.how += "; counted as if a CPU did no other work while it waits for the line";
            finding->title = fmt::format("{} use different bytes of {} of {}, at the same time",
                                         thread_words(object.threads().size()),
                                         object.lines == 1 ? "the same cache line" : "the same cache lines",
                                         shared_words(object.place));
            finding->advice.push_back(padding_advice(object, *finding));
            finding->advice.push_back({"Or let each thread work in its own variable",
                                       "use a local variable, and store it to the shared place once, at the end", "code", ""});
            findings.push_back(std::move(*finding));
        }
        return findings;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_false_sharing() { return std::make_unique<FalseSharing>(); }

} // namespace plumb
