// Memory of one node that threads of several nodes share: all of them wait for the one memory controller, and adding
// threads makes it worse. What is only read can be copied; what is written can at least be spread.
#include "analyses/lines/launch_command.h"
#include "diagnoses/common/sentence.h"
#include "diagnoses/memory/memory_finding.h"
#include "diagnoses/registry.h"

#include <fmt/format.h>

namespace plumb {

namespace {

class MemoryHotNode : public Diagnosis {
  public:
    const char* id() const override { return "memory-hot-node"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const MemoryCase& one : memory_cases(input, MemoryCause::hot_node)) {
            // Threads that spin at a barrier read a word of the heap, all of them alike: that is waiting, not traffic.
            if (one.objects.front()->memory.kind == NamedMemory::Kind::small_blocks)
                continue;
            if (auto finding = memory_finding(input, one, id(), true)) {
                const bool read_only = one.verdict.read_only;
                finding->title =
                    fmt::format("{} lies on node {} and is {} by threads of {}",
                                capitalised(one.objects.front()->memory.words()), one.verdict.home,
                                read_only ? "read" : "read and written", remote_user_nodes(one));
                if (const auto touched = touched_at(input, *one.objects.front()))
                    finding->title += ", because it was first touched at " + place_name(*touched);
                finding->evidence["read_only"] = read_only;
                if (read_only)
                    finding->advice.push_back(copy_it());
                finding->advice.push_back(spread_it(input.run));
                findings.push_back(std::move(*finding));
            }
        }
        return findings;
    }

  private:
    static Advice copy_it() {
        return {"Give each thread, or each node, a copy of its own",
                "make the copy once, before the loop, in memory that the reading thread allocates and touches first (OpenMP: "
                "threadprivate with copyin); a private copy made in every iteration would read the one node every time",
                "code", ""};
    }
    static Advice spread_it(const model::Run& run) {
        return {"Spread its pages over all nodes",
                "every node then serves a part of the accesses; the command spreads all memory of the program, "
                "numa_alloc_interleaved() or mbind() only this object",
                "launch", run.command.empty() ? "" : "numactl --interleave=all " + shell_line(run.command)};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_memory_hot_node() { return std::make_unique<MemoryHotNode>(); }

} // namespace plumb
