// Remote memory whose cause the evidence does not show: neither who shares it, nor who touched it, nor who moved.
#include "analyses/lines/launch_command.h"
#include "diagnoses/common/sentence.h"
#include "diagnoses/memory/kernel_numa_counters.h"
#include "diagnoses/memory/memory_finding.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>

namespace plumb {

namespace {

class MemoryRemote : public Diagnosis {
  public:
    const char* id() const override { return "memory-remote"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const MemoryCase& one : memory_cases(input, MemoryCause::other))
            if (auto finding = memory_finding(input, one, id(), false)) {
                finding->title = fmt::format("{} is accessed from other nodes: {:.0f} % of the access time is remote",
                                             capitalised(one.objects.front()->memory.words()),
                                             one.seconds > 0 ? 100 * one.remote_s / one.seconds : 0);
                add_kernel_numa_counters(host_of(input.run, input.run.processes[one.objects.front()->process]), *finding);
                finding->advice.push_back({"Keep threads and their memory together",
                                           "pin each thread to a CPU, and allocate what it touches on that CPU's node",
                                           "launch", plumb_run_line(input.run, "--pin=scatter --bind-memory")});
                findings.push_back(std::move(*finding));
            }
        return findings;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_memory_remote() { return std::make_unique<MemoryRemote>(); }

} // namespace plumb
