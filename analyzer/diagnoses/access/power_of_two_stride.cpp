// Walks whose stride, often a power of two, puts their lines into few sets of a cache that could hold them all: every
// access misses, although its line was used a moment ago. Rows one line longer spread the lines over all sets. What that
// gains was timed after the run, by the recorder, on walks of the same form.
#include "analyses/accesses/touched_data.h"
#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastSpeedUp = 1.15;   // of the walk alone: two timings of the same walk differ by less
constexpr uint64_t kLargestElement = 16; // bytes: a double precision complex number

struct StridedObject {
    TouchedData data;
    model::StridedWalk walk; // the one that costs most
    double walk_cost_ns = 0;
    double cost_ns = 0;      // CPU time of all its walks beyond what they would take with longer rows
    uint64_t samples = 0;
    LineShares lines;
};

double cost_of(const model::StridedWalk& walk) {
    if (walk.padded_ns <= 0 || walk.seen_ns < kLeastSpeedUp * walk.padded_ns)
        return 0;
    return static_cast<double>(walk.moved_time_ns) * (1 - walk.padded_ns / walk.seen_ns);
}

// The variable, or the block of the heap and how far into it, that a walk was seen in last.
TouchedData walked_data(model::CallPaths& paths, MemoryNames& names, size_t process, const model::StridedWalk& walk) {
    model::SampledAccess access;
    access.address = walk.address;
    access.kind = walk.kind;
    access.last_address = walk.last_address;
    TouchedData data = touched_static(paths, process, access);
    if (std::ranges::none_of(data.member, [](unsigned char letter) { return std::isalpha(letter); }))
        data.member.clear(); // "[]": of an array itself
    if (!data.name.empty())
        return data;
    const NamedMemory& memory = names.at(walk.last_address, model::MemoryTraffic::kNone, walk.last_ns, walk.last_ns,
                                         walk.kind.width, walk.address);
    if (memory.kind == NamedMemory::Kind::allocation) {
        data.kind = TouchedData::Kind::allocation;
        data.name = memory.name;
        data.start = memory.start;
        data.bytes = memory.bytes;
        data.offset = walk.lowest_address > memory.start && walk.lowest_address - memory.start < memory.bytes
                          ? walk.lowest_address - memory.start
                          : 0; // of samples of many blocks, nothing
    }
    return data;
}

class PowerOfTwoStride : public Diagnosis {
  public:
    const char* id() const override { return "power-of-two-stride"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::map<std::string, StridedObject> objects;
        for (size_t process = 0; process < input.run.processes.size(); ++process) {
            const std::vector<model::StridedWalk>& walks = input.run.processes[process].strided_walks;
            if (walks.empty())
                continue;
            MemoryNames names(input.paths, process);
            for (const model::StridedWalk& walk : walks)
                if (cost_of(walk) > 0)
                    add(input.paths, process, walk, walked_data(input.paths, names, process, walk), objects);
        }
        const RunTotals totals = totals_of(input.run);
        std::vector<Finding> findings;
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        for (const auto& [key, object] : objects) {
            Finding finding = finding_of(object, totals);
            if (finding.cost.fraction >= kLeastNotedFraction && finding.confidence >= kLeastConfidence)
                findings.push_back(std::move(finding));
        }
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& each) { return each.cost.seconds; });
        return findings;
    }

  private:
    static void add(model::CallPaths& paths, size_t process, const model::StridedWalk& walk, TouchedData data,
                    std::map<std::string, StridedObject>& objects) {
        const model::SourceFrame frame = paths.user_frame_at(process, walk.address, 0);
        const std::string key =
            data.name.empty() ? fmt::format("?{}\n{}\n{}", frame.module, frame.file, frame.line)
                              : fmt::format("{}\n{}\n{}", static_cast<int>(data.kind), data.name, walk.stride);
        StridedObject& object = objects[key];
        const double cost_ns = cost_of(walk);
        object.cost_ns += cost_ns;
        object.samples += walk.moved_samples;
        object.lines.add(frame, cost_ns);
        if (cost_ns > object.walk_cost_ns) {
            object.walk_cost_ns = cost_ns;
            object.walk = walk;
            object.data = std::move(data);
        }
    }

    Finding finding_of(const StridedObject& object, const RunTotals& totals) const {
        const model::StridedWalk& walk = object.walk;
        Finding finding;
        finding.id = id();
        finding.where = object.lines.heaviest(kMostLines);
        finding.cost.seconds = totals.wall_of_share(std::min(1.0, object.cost_ns * 1e-9 / totals.sampled_s));
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
        finding.cost.how = "estimated";
        finding.confidence = confidence_above(object.samples, totals.samples, kLeastNotedFraction);
        finding.gain = {finding.cost.fraction,
                        fmt::format("the same walk, measured on this machine: {:.2f} ns an access as it is, {:.2f} ns with "
                                    "rows one cache line longer", walk.seen_ns, walk.padded_ns)};
        const TouchedData& data = object.data;
        const std::string name = data.name.empty()     ? "Unnamed memory"
                                 : data.kind == TouchedData::Kind::allocation
                                     ? "The memory allocated at " + data.name
                                 : data.member.empty() ? "Array " + data.name
                                                       : "Array " + data.name + ", member " + data.member + ",";
        finding.title = fmt::format("{} is accessed in steps of {} bytes: the {} lines of a walk share {} of the {} sets of the "
                                    "L{} cache", name, grouped(walk.stride), grouped(walk.length),
                                    grouped(walk.sets_used), grouped(walk.sets), walk.cache_level);
        describe_subject(object, finding);
        add_evidence(object, finding);
        add_advice(object, finding);
        return finding;
    }

    static void describe_subject(const StridedObject& object, Finding& finding) {
        const TouchedData& data = object.data;
        finding.subject.kind = data.subject_kind();
        finding.subject.name =
            !data.name.empty() ? data.name : finding.where.empty() ? "unknown" : place_name(finding.where[0]);
        if (!data.member.empty())
            finding.subject.details["member"] = data.member;
        if (data.kind == TouchedData::Kind::allocation) {
            finding.subject.details["bytes"] = static_cast<int64_t>(data.bytes);
            finding.subject.details["offset_bytes"] = static_cast<int64_t>(data.offset);
        }
        if (!data.type.empty())
            finding.subject.details["type"] = data.type;
        if (!data.declared.empty())
            finding.subject.details["declared"] = data.declared;
    }

    static void add_evidence(const StridedObject& object, Finding& finding) {
        const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
        const model::StridedWalk& walk = object.walk;
        auto& evidence = finding.evidence;
        evidence["stride_bytes"] = number(walk.stride);
        evidence["padded_stride_bytes"] = number(walk.padded_stride);
        evidence["padding_bytes"] = number(walk.padded_stride - walk.stride);
        evidence["access_bytes"] = number(walk.kind.width);
        evidence["walk_access_count"] = number(walk.length);
        evidence["cache_level"] = number(walk.cache_level);
        evidence["cache_sets_count"] = number(walk.sets);
        evidence["cache_sets_used_count"] = number(walk.sets_used);
        evidence["cache_ways_count"] = number(walk.ways);
        evidence["walk_distance_bytes"] = number(walk.advance);
        evidence["timed_access_ns"] = walk.seen_ns;
        evidence["timed_padded_access_ns"] = walk.padded_ns;
        evidence["address_sample_count"] = number(object.samples);
        evidence["seen_by"] = std::vector<std::string>{"address sampling"};
    }

    static void add_advice(const StridedObject& object, Finding& finding) {
        const model::StridedWalk& walk = object.walk;
        const uint64_t padding = walk.padded_stride - walk.stride, element = element_bytes(object);
        std::string how;
        if (element > 0 && walk.stride % element == 0 && padding % element == 0)
            how = fmt::format("{} elements of {} bytes instead of {}, with the last {} unused. ",
                              grouped(walk.padded_stride / element), element, grouped(walk.stride / element),
                              padding / element);
        finding.advice.push_back(
            {fmt::format("Make the rows one cache line longer: {} bytes instead of {}", grouped(walk.padded_stride),
                         grouped(walk.stride)),
             how + "Pad the leading dimension: the last of a C array, the first of a Fortran array. If a step goes over "
                   "several dimensions, pad their product",
             "code", ""});
        finding.advice.push_back({"Or loop along the rows",
                                  "let the innermost loop run over adjacent elements; if both directions are needed, as in a "
                                  "transposition, work in blocks of a few lines each way", "code", ""});
    }

    // 0: not known. A vector access takes several elements: then from the type, if it says how many make a row.
    static uint64_t element_bytes(const StridedObject& object) {
        if (!object.walk.kind.packed)
            return object.walk.kind.width;
        const uint64_t row = row_elements(object.data.type);
        return row > 0 && object.walk.stride % row == 0 && std::has_single_bit(object.walk.stride / row) &&
                       object.walk.stride / row <= kLargestElement
                   ? object.walk.stride / row
                   : 0;
    }

    // Of "double[512][2048]" and "real(kind=8)(2048,512)": 2048. 0: not known.
    static uint64_t row_elements(const std::string& type) {
        const size_t from = type.ends_with(']') ? type.rfind('[') : type.ends_with(')') ? type.rfind('(') : type.npos;
        uint64_t count = 0;
        if (from != type.npos)
            std::from_chars(type.data() + from + 1, type.data() + type.size(), count);
        return count;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_power_of_two_stride() { return std::make_unique<PowerOfTwoStride>(); }

} // namespace plumb
