// Memory that each thread uses a part of, all of it on the node of the one thread that touched it first: the loop that
// fills it should be divided among the threads as the loop that uses it is.
#include "analyses/lines/launch_command.h"
#include "diagnoses/common/sentence.h"
#include "diagnoses/memory/memory_finding.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>

namespace plumb {

namespace {

class SerialFirstTouch : public Diagnosis {
  public:
    const char* id() const override { return "serial-first-touch"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const MemoryCase& one : memory_cases(input, MemoryCause::serial_first_touch))
            if (auto finding = memory_finding(input, one, id(), true)) {
                tell_lines(input, one, *finding);
                add_advice(input.run, *finding);
                findings.push_back(std::move(*finding));
            }
        return findings;
    }

  private:
    // The line to change comes first: the one that touches.
    static void tell_lines(const DiagnosisInput& input, const MemoryCase& one, Finding& finding) {
        const MemoryObject& object = *one.objects.front();
        const std::string used = finding.where.empty() ? "" : place_name(finding.where.front());
        if (!used.empty())
            finding.evidence["used_at"] = used;
        finding.title = fmt::format("{} lies on node {}, but threads of other nodes use parts of it",
                                    capitalised(object.memory.words()), one.verdict.home);
        const auto touched = touched_at(input, object);
        if (!touched)
            return;
        finding.title += fmt::format("; one thread touched all of it first, at {}", place_name(*touched));
        Location cause = *touched;
        cause.share = 1; // all of the cost follows from it
        std::erase_if(finding.where, [&](const Location& place) { return place_name(place) == place_name(cause); });
        finding.where.insert(finding.where.begin(), cause);
    }

    static void add_advice(const model::Run& run, Finding& finding) {
        const auto touched = finding.evidence.find("first_touched_at");
        const auto used = finding.evidence.find("used_at");
        const auto text = [](const Value& value) { return std::get<std::string>(value); };
        finding.advice.push_back(
            {"Let each thread touch first what it will use",
             fmt::format("parallelise the loop that fills it{} in the same way as the loop that uses it{}: the same number of "
                         "threads, the same static schedule",
                         touched != finding.evidence.end() ? " (" + text(touched->second) + ")" : "",
                         used != finding.evidence.end() ? " (" + text(used->second) + ")" : ""),
             "code", ""});
        finding.advice.push_back({"Keep each thread on its node, or its part becomes remote again",
                                  "memory stays on the node where it was first touched", "launch",
                                  plumb_run_line(run, "--pin=scatter")});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_serial_first_touch() { return std::make_unique<SerialFirstTouch>(); }

} // namespace plumb
