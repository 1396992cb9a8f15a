// A node full of cached file pages: what threads of that node allocate lands on other nodes, and stays there.
#include "analyses/lines/launch_command.h"
#include "diagnoses/memory/kernel_numa_counters.h"
#include "diagnoses/memory/memory_finding.h"
#include "analyses/memory/memory_spill.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

class PageCacheSpill : public Diagnosis {
  public:
    const char* id() const override { return "page-cache-spill"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const std::vector<MemoryCase>& cases = memory_cases(input, MemoryCause::spilled);
        std::vector<Finding> findings;
        for (const model::Host& host : input.run.hosts)
            for (const NodeSpill& spill : spills_of(host)) {
                const MemoryCase one = joined(input.run, cases, host, spill.node);
                if (one.objects.empty())
                    continue;
                if (auto finding = memory_finding(input, one, id(), false)) {
                    describe(input.run, one, host, spill, *finding);
                    findings.push_back(std::move(*finding));
                }
            }
        return findings;
    }

  private:
    // All objects that spilled from this node, as one: they have one cause and one cure.
    static MemoryCase joined(const model::Run& run, const std::vector<MemoryCase>& cases, const model::Host& host,
                             int node) {
        MemoryCase all;
        for (const MemoryCase& one : cases)
            for (const MemoryObject* object : one.objects)
                if (host_of(run, run.processes[object->process]) == &host && spilled_from(*object) == node) {
                    if (all.objects.empty())
                        all.verdict = one.verdict;
                    all.add(*object);
                }
        std::ranges::stable_sort(all.objects, std::greater<>(), &MemoryObject::remote_s);
        return all;
    }

    static void describe(const model::Run& run, const MemoryCase& one, const model::Host& host, const NodeSpill& spill,
                         Finding& finding) {
        const double share = static_cast<double>(spill.spilled_bytes) / static_cast<double>(spill.wanted_bytes);
        finding.title = fmt::format("Node {} was full of cached files ({} of {}): {:.0f} % of the memory requested there went "
                                    "to other nodes, mainly {}",
                                    spill.node, megabytes(spill.file_bytes), megabytes(spill.total_bytes), 100 * share,
                                    one.objects.front()->memory.words());
        finding.subject = {"node", std::to_string(spill.node), {{"host", host.name}}};
        std::vector<std::string> names;
        for (const MemoryObject* object : one.objects)
            names.push_back(object->memory.name);
        finding.subject.details["objects"] = names;
        finding.evidence["cached_file_bytes"] = static_cast<int64_t>(spill.file_bytes);
        finding.evidence["least_free_bytes"] = static_cast<int64_t>(spill.free_bytes);
        finding.evidence["node_bytes"] = static_cast<int64_t>(spill.total_bytes);
        finding.evidence["spilled_bytes"] = static_cast<int64_t>(spill.spilled_bytes);
        finding.evidence["spilled_fraction"] = share;
        add_kernel_numa_counters(&host, finding);
        finding.advice.push_back({"Drop cached files before the program starts",
                                  "plumb allocates and touches the memory of the nodes, which displaces cached files, and "
                                  "frees it; this needs no privilege",
                                  "launch", plumb_run_line(run, "--sweep")});
        finding.advice.push_back({"Drop cached files between jobs",
                                  "for administrators, in the job's prologue", "system",
                                  "sync; echo 1 > /proc/sys/vm/drop_caches"});
        finding.advice.push_back({"Or let the kernel reclaim locally before it goes to other nodes",
                                  "for administrators; allocations get slower while files are cached", "system",
                                  "sysctl vm.zone_reclaim_mode=1"});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_page_cache_spill() { return std::make_unique<PageCacheSpill>(); }

} // namespace plumb
