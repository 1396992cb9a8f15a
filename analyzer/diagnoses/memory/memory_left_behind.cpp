// A thread that touched its memory on one node and was then moved to another by the scheduler: it reads what it left
// behind from then on.
#include "analyses/lines/launch_command.h"
#include "diagnoses/common/sentence.h"
#include "diagnoses/memory/memory_finding.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>

namespace plumb {

namespace {

class MemoryLeftBehind : public Diagnosis {
  public:
    const char* id() const override { return "memory-left-behind"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const MemoryCase& one : memory_cases(input, MemoryCause::left_behind))
            if (auto finding = memory_finding(input, one, id(), false)) {
                finding->title = fmt::format("{} stayed on node {} when its threads were moved to {}",
                                             capitalised(one.objects.front()->memory.words()), one.verdict.home,
                                             remote_user_nodes(one));
                finding->advice.push_back({"Keep each thread on its CPU from the beginning",
                                           "memory stays on the node where it was first touched, so the thread has to stay "
                                           "there as well",
                                           "launch", plumb_run_line(input.run, "--pin=scatter --bind-memory")});
                finding->advice.push_back({"Or move the memory after the thread",
                                           "migratepages PID OLD NEW, or automatic NUMA balancing (sysctl "
                                           "kernel.numa_balancing=1), which follows slowly",
                                           "system", ""});
                findings.push_back(std::move(*finding));
            }
        return findings;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_memory_left_behind() { return std::make_unique<MemoryLeftBehind>(); }

} // namespace plumb
