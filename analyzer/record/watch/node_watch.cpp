#include "record/watch/node_watch.h"

#include "platform/cpu_list.h"
#include "platform/redaction.h"
#include "platform/task_stat.h"
#include "platform/topology.h"
#include "record/calibrate/known_topology.h"

#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace plumb::record {

namespace {

std::string allowed_cpus() {
    const auto own = platform::read_task_status("/proc", getpid(), getpid());
    return own ? own->allowed_cpus : "";
}

} // namespace

NodeWatch::NodeWatch(NodeTraceWriter& file, ProcessTable& processes, RunDirectory& directory, bool has_other_ranks)
    : file_(file), processes_(processes), directory_(directory), has_other_ranks_(has_other_ranks),
      memory_counters_(platform::read_memory_counters("")) {}

void NodeWatch::begin(uint64_t begin_ns, Calibration& calibration, const MemoryWatch* memory) {
    asked_ns_ = monotonic_ns();
    const std::string allowed = allowed_cpus();
    const bool watches = directory_.claim_node();
    write_topology(allowed, watches, calibration);
    if (!watches)
        return;
    if (!directory_.why_no_locks().empty())
        file_.evidence("run-directory", trace::EvidenceState::limited,
                       directory_.why_no_locks() + "; the recorders of this run coordinated by creating files instead",
                       "record into a file system with locks (Lustre: mounted with flock)");
    begin_monitor(begin_ns, allowed);
    if (memory)
        monitor_->begin_with(memory->before(), memory->before_ns());
}

// Every recorder says what its program was allowed; the one that watches the node adds hwloc's XML.
void NodeWatch::write_topology(const std::string& allowed, bool watches, Calibration& calibration) {
    trace::Topology topology{};
    topology.allowed_cpus = file_.string(allowed);
    topology.cpu_count = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    std::string xml;
    if (watches)
        xml = known_topology_xml(calibration.cache(), topology_conditions("", allowed), platform::live_topology_xml);
    if (file_.redacts())
        xml = platform::without_infos(std::move(xml));
    constexpr size_t kPart = 64000; // below the longest string of the format
    for (size_t at = 0; at < xml.size(); at += kPart, ++topology.xml_parts) {
        const trace::StringId part = file_.new_string(std::string_view(xml).substr(at, kPart));
        topology.xml = topology.xml_parts == 0 ? part : topology.xml;
    }
    file_.append(trace::RecordType::Topology, 0, topology);
}

void NodeWatch::begin_monitor(uint64_t begin_ns, const std::string& allowed) {
    monitor_.emplace(file_, "/proc", "/sys", begin_ns, platform::parse_cpu_list(allowed).value_or(std::vector<int>{}),
                     [this](uint32_t pid) { return processes_.was_seen(pid); },
                     [this] { return directory_.recorders(); });
}

void NodeWatch::take_over(uint64_t now_ns) {
    constexpr uint64_t kAskEvery = 1'000'000'000;
    if (monitor_ || now_ns - asked_ns_ < kAskEvery)
        return;
    asked_ns_ = now_ns;
    if (!has_other_ranks_ || !directory_.claim_node())
        return;
    memory_counters_ = platform::read_memory_counters(""); // what was before is that one's to write
    begin_monitor(now_ns, allowed_cpus());
}

void NodeWatch::read(uint64_t now_ns, ThreadMonitor& threads, uint64_t recorder_ns, bool last) {
    if (!last)
        take_over(now_ns);
    if (monitor_)
        monitor_->read(now_ns, threads.take_run_by_cpu(), recorder_ns, last);
}

// Names are those of platform/memory_counters.h, marked, and the process is 0.
void NodeWatch::write_memory_counters() {
    if (!monitor_) // another recorder of this node does it
        return;
    for (const auto& [name, count] : platform::difference(memory_counters_, platform::read_memory_counters(""))) {
        trace::EventCount record{};
        record.name = file_.string("memory:" + name);
        record.count = count;
        file_.append(trace::RecordType::EventCount, 0, record);
    }
}

} // namespace plumb::record
