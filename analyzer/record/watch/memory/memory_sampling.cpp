#include "record/watch/memory/memory_sampling.h"

#include "platform/cpu_list.h"
#include "record/run/interval.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace plumb::record {

namespace {

constexpr const char* kSource = "numa";
constexpr size_t kMostWaiting = 1 << 16; // more are not put aside: they count as unknown
constexpr uint64_t kEpochShare = 4;      // epochs may take 1/4 of a process's bytes

void write_nodes(NodeTraceWriter& file, const std::vector<platform::NumaNode>& nodes) {
    for (const platform::NumaNode& node : nodes) {
        std::string distances;
        for (const int distance : node.distances)
            distances += (distances.empty() ? "" : " ") + std::to_string(distance);
        trace::NumaNode record{};
        record.node = static_cast<uint32_t>(node.node);
        record.total_bytes = node.total_bytes;
        record.cpus = file.string(platform::format_cpu_list(node.cpus));
        record.distances = file.string(distances);
        file.append(trace::RecordType::NumaNode, 0, record);
    }
}

} // namespace

size_t MemorySampling::KeyHash::operator()(const Key& key) const {
    uint64_t mixed = key.instruction * 0x9e3779b97f4a7c15u ^ key.part * 0xc2b2ae3d27d4eb4fu;
    mixed ^= (uint64_t{key.tid} << 32 | key.area) * 0x165667b19e3779f9u;
    mixed ^= uint64_t{static_cast<uint16_t>(key.cpu_node)} << 48 ^ uint64_t{static_cast<uint16_t>(key.page_node)} << 32 ^
             key.kind;
    return mixed ^ mixed >> 29;
}

bool MemorySampling::is_wanted(NodeTraceWriter& file, const std::vector<platform::NumaNode>& nodes,
                               const PageNodeLookup& look_up, const std::string& proc_root) {
    if (platform::memory_node_count(nodes) < 2) {
        if (platform::numa_is_off(proc_root))
            file.evidence(kSource, trace::EvidenceState::missing,
                          "the kernel was started with numa=off: it treats the machine as one NUMA node and ignores where "
                          "memory is used",
                          "start the kernel without numa=off");
        else
            file.evidence(kSource, trace::EvidenceState::ok,
                          "this machine has one NUMA node: no memory is remote, so page locations were not sampled", "");
        return false;
    }
    write_nodes(file, nodes);
    const std::string why = why_no_page_nodes(look_up);
    if (!why.empty())
        file.evidence(kSource, trace::EvidenceState::missing, why,
                      "in a container: allow the system call move_pages (CAP_SYS_NICE, or the seccomp profile)");
    return why.empty();
}

MemorySampling::MemorySampling(NodeTraceWriter& file, ProcessTable& processes, std::vector<platform::NumaNode> nodes,
                               PageNodeLookup look_up, std::string proc_root, uint64_t begin_ns, uint64_t most_bytes_each)
    : file_(file), processes_(processes), look_up_(std::move(look_up)), proc_root_(std::move(proc_root)),
      begin_ns_(begin_ns), most_bytes_each_(most_bytes_each), epoch_begin_ns_(begin_ns) {
    for (const platform::NumaNode& node : nodes)
        for (const int cpu : node.cpus) {
            if (static_cast<size_t>(cpu) >= node_of_cpu_.size())
                node_of_cpu_.resize(static_cast<size_t>(cpu) + 1, -1);
            node_of_cpu_[static_cast<size_t>(cpu)] = static_cast<int16_t>(node.node);
        }
}

int16_t MemorySampling::node_of_cpu(int cpu) const {
    return cpu >= 0 && static_cast<size_t>(cpu) < node_of_cpu_.size() ? node_of_cpu_[static_cast<size_t>(cpu)]
                                                                      : int16_t{-1};
}

MemorySampling::Traced& MemorySampling::traced(uint32_t pid) {
    const Process* process = processes_.find(pid);
    Traced& traced = processes_traced_[pid];
    if (!traced.areas || (process && process->generation != traced.generation)) {
        Traced next;
        next.generation = process ? process->generation : 0;
        next.bytes = traced.bytes + (traced.areas ? traced.areas->bytes() : 0); // the share is the process's, over all images
        next.areas = std::make_unique<DataAreas>(file_, proc_root_, pid, areas_);
        waiting_ -= traced.waiting.size(); // of an image that is gone, with its pages
        overrun_ += traced.waiting.size();
        traced = std::move(next);
    }
    return traced;
}

void MemorySampling::put_aside(const SampledAccess& access, trace::NodeId path, uint64_t faults) {
    if (waiting_ >= kMostWaiting) {
        ++overrun_;
        return;
    }
    traced(access.pid).waiting.push_back({access, path, faults});
    ++waiting_;
}

void MemorySampling::take(const SampledAccess& access, trace::NodeId path) { put_aside(access, path, 0); }

void MemorySampling::take_fault(const PerfRecord& fault, uint64_t faults, trace::NodeId path) {
    SampledAccess access;
    access.pid = fault.pid;
    access.tid = fault.tid;
    access.cpu = fault.cpu;
    access.time_ns = fault.time_ns;
    access.instruction = access.sampled = fault.address;
    access.address = fault.data_address;
    put_aside(access, path, std::max<uint64_t>(faults, 1));
}

void MemorySampling::settle(uint64_t now_ns, bool last) {
    if (waiting_ > 0)
        for (auto& [pid, process] : processes_traced_)
            if (!process.waiting.empty())
                settle_process(pid, process, now_ns);
    if (last || now_ns - epoch_begin_ns_ >= interval_ns(now_ns - begin_ns_, epoch_.size() * 4))
        end_epoch(now_ns);
}

void MemorySampling::settle_process(uint32_t pid, Traced& process, uint64_t now_ns) {
    std::vector<Waiting> waiting;
    waiting.swap(process.waiting);
    waiting_ -= waiting.size();
    std::vector<uint64_t> addresses;
    addresses.reserve(waiting.size());
    for (const Waiting& one : waiting)
        addresses.push_back(one.access.address);
    std::vector<int> nodes(waiting.size(), -ESRCH);
    if (const int error = look_up_(pid, addresses, nodes)) {
        const bool ended = error == ESRCH || error == EINVAL; // the latter: it is a zombie, its memory is gone
        std::ranges::fill(nodes, ended ? -ESRCH : -error);
        if (ended)
            ended_ += waiting.size();
        else
            last_error_ = error;
    }
    for (size_t i = 0; i < waiting.size(); ++i) {
        const DataAreas::Place place = process.areas->find(addresses[i], now_ns);
        if (waiting[i].faults > 0)
            count_fault(process, waiting[i], nodes[i], place);
        else
            count(process, waiting[i], nodes[i], place);
    }
}

void MemorySampling::count(Traced& process, const Waiting& one, int node, const DataAreas::Place& place) {
    const SampledAccess& access = one.access;
    ++(node >= 0 ? located_ : unknown_);
    const auto page_node = static_cast<int16_t>(node >= 0 ? node : -1);
    const int16_t cpu_node = node_of_cpu(access.cpu);
    Sum& sum = epoch_[{access.pid, access.tid, cpu_node, page_node}];
    ++sum.samples;
    sum.time_ns += access.weight_ns;

    const uint64_t used = process.bytes + process.areas->bytes();
    const uint64_t part = used < most_bytes_each_ / 2 ? place.part : 0;
    const Key key{access.instruction, part, access.tid, place.id, cpu_node, page_node,
                  uint32_t{access.width} << 16 | access.flags};
    trace::MemoryTraffic*& known = process.traffic[key];
    if (!known) {
        trace::MemoryTraffic record{};
        record.pid = access.pid;
        record.area = place.id;
        record.instruction = access.instruction;
        record.path = one.path;
        record.flags = access.flags;
        record.width = access.width;
        record.cpu_node = cpu_node;
        record.page_node = page_node;
        record.unknown = static_cast<uint16_t>(node >= 0 ? 0 : -node);
        record.lowest_address = record.highest_address = access.address;
        record.first_ns = access.time_ns;
        if (used + sizeof record <= most_bytes_each_)
            known = file_.append(trace::RecordType::MemoryTraffic, access.tid, record);
        else
            file_.count_dropped();
        if (!known) {
            process.traffic.erase(key);
            return;
        }
        process.bytes += sizeof record;
    }
    update(known->samples, known->samples + 1);
    update(known->time_ns, known->time_ns + access.weight_ns);
    update(known->lowest_address, std::min(known->lowest_address, access.address));
    update(known->highest_address, std::max(known->highest_address, access.address));
    update(known->last_address, access.address);
    update(known->last_ns, access.time_ns);
}

void MemorySampling::count_fault(Traced& process, const Waiting& one, int node, const DataAreas::Place& place) {
    const SampledAccess& access = one.access;
    const auto page_node = static_cast<int16_t>(node >= 0 ? node : -1);
    const int16_t cpu_node = node_of_cpu(access.cpu);
    const uint64_t used = process.bytes + process.areas->bytes();
    const uint64_t part = used < most_bytes_each_ / 2 ? place.part : 0;
    const Key key{access.instruction, part, access.tid, place.id, cpu_node, page_node, UINT32_MAX};
    trace::FirstTouch*& known = process.touches[key];
    if (!known) {
        trace::FirstTouch record{};
        record.pid = access.pid;
        record.area = place.id;
        record.instruction = access.instruction;
        record.path = one.path;
        record.cpu_node = cpu_node;
        record.page_node = page_node;
        record.lowest_address = record.highest_address = access.address;
        record.first_ns = access.time_ns;
        if (used + sizeof record <= most_bytes_each_)
            known = file_.append(trace::RecordType::FirstTouch, access.tid, record);
        else
            file_.count_dropped();
        if (!known) {
            process.touches.erase(key);
            return;
        }
        process.bytes += sizeof record;
    }
    update(known->samples, known->samples + 1);
    update(known->faults, known->faults + one.faults);
    update(known->lowest_address, std::min(known->lowest_address, access.address));
    update(known->highest_address, std::max(known->highest_address, access.address));
    update(known->last_ns, access.time_ns);
}

void MemorySampling::end_epoch(uint64_t now_ns) {
    for (const auto& [key, sum] : epoch_) {
        const auto& [pid, tid, cpu_node, page_node] = key;
        trace::MemoryEpoch record{};
        record.pid = pid;
        record.cpu_node = cpu_node;
        record.page_node = page_node;
        record.begin_ns = epoch_begin_ns_;
        record.end_ns = now_ns;
        record.samples = sum.samples;
        record.time_ns = sum.time_ns;
        uint64_t& bytes = epoch_bytes_[pid];
        if (bytes + sizeof record > most_bytes_each_ / kEpochShare) {
            file_.count_dropped();
        } else if (file_.append(trace::RecordType::MemoryEpoch, tid, record)) {
            bytes += sizeof record;
        }
    }
    epoch_.clear();
    epoch_begin_ns_ = now_ns;
}

void MemorySampling::forget(uint32_t pid) {
    const auto known = processes_traced_.find(pid);
    if (known == processes_traced_.end())
        return;
    if (!known->second.waiting.empty())
        settle_process(pid, known->second, monotonic_ns());
    processes_traced_.erase(known);
}

void MemorySampling::write_evidence(NodeTraceWriter& file) const {
    const uint64_t all = located_ + unknown_ + overrun_;
    if (all == 0)
        return;
    std::string why = "the node of the page was found for " + std::to_string(located_) + " of " + std::to_string(all) +
                      " sampled accesses";
    if (ended_ > 0)
        why += "; " + std::to_string(ended_) + " belonged to processes that ended before their pages were looked up";
    if (last_error_ != 0)
        why += std::string("; the kernel refused to locate others (") + std::strerror(last_error_) + ")";
    if (overrun_ > 0)
        why += "; " + std::to_string(overrun_) + " arrived faster than pages can be looked up";
    if (platform::balances_automatically(proc_root_))
        why += "; automatic NUMA balancing is on: the kernel moves pages towards the threads that use them";
    const bool few = located_ * 2 < all;
    file.evidence(kSource, located_ == 0 ? trace::EvidenceState::missing : few ? trace::EvidenceState::limited
                                                                            : trace::EvidenceState::ok, why, "");
}

} // namespace plumb::record
