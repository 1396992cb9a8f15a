#include "record/watch/memory/memory_watch.h"

#include "record/watch/memory/page_nodes.h"

namespace plumb::record {

namespace {

constexpr uint64_t kMostBytesEach = 2u << 20; // of the recorder's file, for one process
constexpr const char* kProc = "/proc";

} // namespace

std::unique_ptr<MemoryWatch> MemoryWatch::begin(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, int pid,
                                                const std::vector<int>& cpus) {
    const std::vector<platform::NumaNode> nodes = platform::read_numa_nodes("/sys");
    if (!MemorySampling::is_wanted(file, nodes, look_up_page_nodes, kProc))
        return nullptr;
    return std::unique_ptr<MemoryWatch>(new MemoryWatch(file, processes, profile, pid, cpus, nodes));
}

MemoryWatch::MemoryWatch(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, int pid,
                         const std::vector<int>& cpus, const std::vector<platform::NumaNode>& nodes)
    : file_(file), processes_(processes), profile_(profile), before_(platform::read_node_memory(kProc, "/sys")),
      before_ns_(monotonic_ns()), footprints_(file, kProc, monotonic_ns()) {
    accesses_.emplace(file, processes, nodes, look_up_page_nodes, kProc, monotonic_ns(), kMostBytesEach);
    faults_.emplace(pid, cpus);
    if (!faults_->works())
        file.evidence("first-touch", trace::EvidenceState::missing, faults_->why(),
                      "a larger limit of locked memory (ulimit -l)");
}

void MemoryWatch::do_without_accesses(const std::string& why) {
    accesses_.reset();
    faults_.reset();
    file_.evidence("numa", trace::EvidenceState::missing, "addresses of memory accesses are not known: " + why, "");
}

void MemoryWatch::take(const SampledAccess& access, trace::NodeId path) {
    if (accesses_)
        accesses_->take(access, path);
}

void MemoryWatch::settle(bool all, bool last) {
    if (!accesses_)
        return;
    faults_->drain(
        [&](const PerfRecord& fault) { accesses_->take_fault(fault, fault.period, profile_.place(fault)); }, all);
    accesses_->settle(monotonic_ns(), last);
}

void MemoryWatch::forget(uint32_t pid) {
    if (accesses_)
        accesses_->forget(pid);
}

void MemoryWatch::write_evidence() const {
    if (accesses_)
        accesses_->write_evidence(file_);
}

} // namespace plumb::record
