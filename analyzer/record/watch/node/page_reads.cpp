#include "record/watch/node/page_reads.h"

#include <algorithm>
#include <iterator>

namespace plumb::record {

namespace {

// The kernel reads ahead of a fault, so that the next one of a walk is at some distance. In a small mapping two faults are often
// that near by chance.
constexpr uint64_t kFarthestAhead = 4u << 20, kPartOfMapping = 16;
constexpr size_t kMostRemembered = 4096; // latest faults by thread and mapping

bool is_anonymous(const platform::Mapping& mapping) { return mapping.inode == 0 || !mapping.path.starts_with('/'); }

bool is_code(const std::vector<platform::Mapping>& mappings, const platform::Mapping& of) {
    return std::ranges::any_of(mappings, [&](const platform::Mapping& mapping) {
        return mapping.executable && mapping.inode == of.inode && mapping.device == of.device;
    });
}

} // namespace

PageReads::PageReads(NodeTraceWriter& file, ProcessTable& processes, std::string proc_root, int pid,
                     const std::vector<int>& cpus, uint64_t most_bytes_each)
    : file_(file), processes_(processes), proc_root_(std::move(proc_root)), most_bytes_each_(most_bytes_each),
      faults_(pid, cpus, FaultSampler::Faults::major) {
    if (!faults_.works())
        file.evidence("page-reads", trace::EvidenceState::missing, "which files are read by page faults: " + faults_.why(),
                      "a larger limit of locked memory (ulimit -l)");
}

void PageReads::settle(bool all) {
    ++round_; // mappings change: what was read of them holds for one round
    faults_.drain([this](const PerfRecord& fault) { take(fault); }, all);
}

void PageReads::forget(uint32_t pid) { images_.erase(pid); }

PageReads::Image& PageReads::image_of(const PerfRecord& fault) {
    Image& image = images_[fault.pid];
    const Process* process = processes_.find(fault.pid);
    if (process && image.generation != process->generation) {
        const uint64_t bytes = image.bytes; // the share is the process's, over all its programs
        image = Image{};
        image.generation = process->generation;
        image.bytes = bytes;
    }
    if (image.round != round_) {
        image.round = round_;
        // Of one that has just ended the mappings of the round before are the best that there is.
        if (auto mappings = platform::read_mappings(proc_root_, fault.pid); !mappings.empty())
            image.mappings = std::move(mappings);
    }
    return image;
}

const platform::Mapping* PageReads::mapping_of(const Image& image, uint64_t address) const {
    const auto after = std::ranges::upper_bound(image.mappings, address, {}, &platform::Mapping::start);
    if (after == image.mappings.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &*std::prev(after);
}

void PageReads::take(const PerfRecord& fault) {
    Image& image = image_of(fault);
    const platform::Mapping* mapping = mapping_of(image, fault.data_address);
    uint32_t flags = trace::kPageOfUnknown;
    trace::StringId name = 0;
    bool ahead = false;
    if (mapping) {
        flags = 0;
        if (is_anonymous(*mapping))
            flags = trace::kPageOfSwap;
        else if (is_code(image.mappings, *mapping))
            flags = trace::kPageOfCode;
        name = flags == trace::kPageOfSwap ? 0 : file_.string(mapping->path);
        if (image.latest.size() >= kMostRemembered)
            image.latest.clear();
        uint64_t& latest = image.latest[{fault.tid, mapping->start}];
        const uint64_t farthest = std::min(kFarthestAhead, (mapping->end - mapping->start) / kPartOfMapping);
        ahead = latest != 0 && fault.data_address > latest && fault.data_address - latest <= farthest;
        latest = fault.data_address;
    }
    trace::PageRead*& record = image.reads[{fault.tid, fault.address, name, flags}];
    if (!record) {
        if (image.bytes + sizeof(trace::PageRead) > most_bytes_each_) {
            file_.count_dropped();
            return;
        }
        trace::PageRead begin{};
        begin.pid = fault.pid;
        begin.file = name;
        begin.address = fault.address;
        begin.flags = flags;
        begin.first_ns = fault.time_ns;
        record = file_.append(trace::RecordType::PageRead, fault.tid, begin);
        image.bytes += sizeof begin;
        if (!record)
            return;
    }
    update(record->faults, record->faults + 1);
    update(record->ahead, record->ahead + (ahead ? 1 : 0));
    if (mapping)
        update(record->mapped_bytes, std::max(record->mapped_bytes, mapping->end - mapping->start));
    update(record->last_ns, std::max(record->last_ns, fault.time_ns));
}

} // namespace plumb::record
