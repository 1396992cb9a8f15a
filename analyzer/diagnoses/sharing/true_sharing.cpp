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
                                  "do more under it each time, collect what is to be done by thread and hand it over in one "
                                  "piece, or keep what it guards by thread", "code", ""});
        finding.advice.push_back({"Or divide what it guards",
                                  fmt::format("several locks, each for a part and on a cache line of its own ({} bytes); "
                                              "readers that only look can do without a lock (RCU, sequence locks)", line),
                                  "code", ""});
        return;
    }
    finding.advice.push_back({"Let each thread count by itself",
                              fmt::format("a variable a thread, each on a cache line of its own (alignas({})), added up when "
                                          "the sum is needed; OpenMP: reduction(+: ...)", line), "code", ""});
    finding.advice.push_back({"Or write less often",
                              "add up many steps in a local variable first; test before writing a value that may be there "
                              "already", "code", ""});
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
