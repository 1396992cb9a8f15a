// The same bytes, written by several threads that run at the same time: a counter of all, a lock. Padding does not help
// here; fewer writes do.
#include "diagnoses/registry.h"
#include "diagnoses/sharing/sharing_finding.h"

#include <fmt/format.h>

namespace plumb {

namespace {

void add_advice(const SharedObject& object, Finding& finding) {
    const uint64_t line = object.line_bytes;
    if (object.is_lock()) {
        finding.advice.push_back({"Take the lock less often",
                                  "do more work each time it is held, collect work in each thread and hand it over in one "
                                  "piece, or keep one copy of the guarded data for each thread", "code", ""});
        finding.advice.push_back({"Or divide what it guards",
                                  fmt::format("use several locks, each for a part of the data and on its own cache line ({} "
                                              "bytes); readers can work without a lock (RCU, sequence locks)", line),
                                  "code", ""});
        return;
    }
    finding.advice.push_back({"Let each thread count in its own variable",
                              fmt::format("put each on its own cache line (alignas({})), and add them up when the sum is "
                                          "needed; OpenMP: reduction(+: ...)", line), "code", ""});
    finding.advice.push_back({"Or write less often",
                              "add up many steps in a local variable first; before writing, test whether the value is already "
                              "there", "code", ""});
}

class TrueSharing : public Diagnosis {
  public:
    const char* id() const override { return "true-sharing"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const SharedObject& object : shared_objects(input.paths, Sharing::same_bytes)) {
            std::optional<Finding> finding = sharing_finding(input, object, id());
            if (!finding)
                continue;
            finding->title = fmt::format("{} write {} all the time{}", thread_words(object.writers().size()),
                                         shared_words(object.place),
                                         object.is_lock() ? ", a lock" : ": its cache line moves from CPU to CPU");
            finding->evidence["is_lock"] = object.is_lock();
            add_advice(object, *finding);
            findings.push_back(std::move(*finding));
        }
        return findings;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_true_sharing() { return std::make_unique<TrueSharing>(); }

} // namespace plumb
