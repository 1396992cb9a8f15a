#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/confidence.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr size_t kMostUnalignedLines = 8;
constexpr double kLeastCrossing = 0.05; // of the samples: what sampled crossings must be above, most likely

struct Draft {
    UnalignedObject object;
    std::map<std::string, double> members;
    double heaviest = 0; // weight of the line whose kind, data and cause are shown
    double heaviest_replayed = 0;
};

uint64_t part(uint64_t count, double share) {
    return share >= 1 ? count : static_cast<uint64_t>(std::llround(static_cast<double>(count) * share));
}

std::string object_key(const AccessLine& line, const TouchedData& data) {
    if (data.name.empty())
        return fmt::format("?{}\n{}\n{}\n{}\n{}", line.frame.module, line.frame.file, line.frame.line,
                           line.frame.function, line.called_code());
    const std::string scope = data.kind == TouchedData::Kind::stack_variable ? line.frame.function : "";
    return std::to_string(static_cast<int>(data.kind)) + data.name + "\n" + scope;
}

void add_share(Draft& draft, const AccessLine& line, const AccessObject& part_of, double share, double weight) {
    UnalignedObject& object = draft.object;
    AccessCost cost = line.cost;
    cost.scale(share);
    object.cost.add(cost);
    object.priced |= line.priced;
    const bool exact = line.counts.exact && share >= 1;
    object.dealt_out |= line.trapped() && share < 1;
    if (line.trapped())
        object.counts.exact = object.counts.hits == 0 ? exact : object.counts.exact && exact;
    object.counts.hits += part(line.counts.hits, share);
    object.counts.line_crossings += part(line.counts.line_crossings, share);
    object.counts.page_crossings += part(line.counts.page_crossings, share);
    object.samples += part(line.samples, share);
    object.sampled_line_crossings += part(line.sampled_line_crossings, share);
    object.sampled_page_crossings += part(line.sampled_page_crossings, share);
    object.lines.add(line.frame, weight);
    object.instructions += line.instructions;
    object.threads = std::max(object.threads, line.threads);
    if (!part_of.data.member.empty())
        draft.members[part_of.data.member] += weight;
    if (line.replayed && weight > draft.heaviest_replayed) {
        draft.heaviest_replayed = weight;
        object.replayed = line.replayed;
    }
    if (weight > draft.heaviest) {
        draft.heaviest = weight;
        object.data = part_of.data;
        object.cause = part_of.cause;
        object.kind = line.kind;
        object.called_code = line.called_code();
    }
}

// Costs are nanoseconds here, numbers count as picoseconds: they decide only where there is no cost.
double weight_of(const AccessLine& line, double share) {
    const double number = static_cast<double>(line.trapped() ? line.counts.hits : line.samples);
    return share * (line.cost.total_s() * 1e9 + std::max(number, 1.0) * 1e-3);
}

UnalignedObject finished(Draft& draft) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [member, weight] : draft.members)
        order.emplace_back(weight, member);
    std::ranges::stable_sort(order, std::greater<>(), &std::pair<double, std::string>::first);
    for (const auto& [weight, member] : order)
        draft.object.members.push_back(member);
    return std::move(draft.object);
}

void add_evidence(const UnalignedObject& object, const UnalignedAccesses& accesses, Finding& finding) {
    auto& evidence = finding.evidence;
    const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
    if (object.trapped()) {
        evidence["unaligned_count"] = number(object.counts.hits);
        evidence["counted_exactly"] = object.counts.exact;
        evidence["line_crossing_count"] = number(object.counts.line_crossings);
        evidence["page_crossing_count"] = number(object.counts.page_crossings);
    }
    if (object.samples > 0) {
        const double samples = static_cast<double>(object.samples);
        evidence["address_sample_count"] = number(object.samples);
        evidence["sampled_line_crossing_fraction"] = static_cast<double>(object.sampled_line_crossings) / samples;
        evidence["sampled_page_crossing_fraction"] = static_cast<double>(object.sampled_page_crossings) / samples;
    }
    evidence["seen_by"] = std::vector<std::string>();
    auto& seen_by = std::get<std::vector<std::string>>(evidence["seen_by"]);
    if (object.trapped())
        seen_by.push_back("alignment trap");
    if (object.samples > 0)
        seen_by.push_back("address sampling");
    if (object.replayed) {
        seen_by.push_back("replay of the loop");
        evidence["loop_round_ns"] = object.replayed->seen_ns;
        evidence["loop_round_aligned_ns"] = object.replayed->aligned_ns;
        evidence["loop_line_crossing_fraction"] = object.replayed->line_share;
        evidence["loop_page_crossing_fraction"] = object.replayed->page_share;
        if (object.replayed->round_ns > 0)
            evidence["loop_round_in_program_ns"] = object.replayed->round_ns;
    }
    evidence["access_bytes"] = number(object.kind.width);
    evidence["cause"] = std::string(to_string(object.cause.cause));
    if (!object.called_code.empty())
        evidence["inside"] = object.called_code;
    if (!object.priced)
        evidence["penalty_measured"] = false;
    const ExtraTime extra = extra_time_of(accesses.penalties, object.kind);
    if (extra.known && !object.kind.locked) {
        evidence["aligned_access_ns"] = extra.aligned_ns;
        evidence["unaligned_penalty_ns"] = extra.within_ns;
        evidence["line_crossing_penalty_ns"] = extra.line_ns;
        evidence["page_crossing_penalty_ns"] = extra.page_ns;
    }
}

void describe_subject(const UnalignedObject& object, Finding& finding) {
    const TouchedData& data = object.data;
    Subject& subject = finding.subject;
    subject.kind = data.subject_kind();
    subject.name = !data.name.empty() ? data.name : finding.where.empty() ? "unknown" : place_name(finding.where[0]);
    if (!object.members.empty())
        subject.details["members"] = object.members;
    if (!data.structure.empty())
        subject.details["structure"] = data.structure;
    if (!data.type.empty())
        subject.details["type"] = data.type;
    if (!data.declared.empty())
        subject.details["declared"] = data.declared;
    if (!data.member.empty())
        subject.details["member_offset_bytes"] = static_cast<int64_t>(data.member_offset);
    else if (data.start != 0)
        subject.details["offset_bytes"] = static_cast<int64_t>(data.offset);
}

} // namespace

std::vector<UnalignedObject> unaligned_objects(const UnalignedAccesses& accesses,
                                               const std::function<bool(const AccessLine&)>& wanted) {
    static const AccessObject nameless{{}, {}, 1};
    std::map<std::string, Draft> drafts;
    for (const AccessLine& line : accesses.lines) {
        if (!wanted(line))
            continue;
        if (line.objects.empty())
            add_share(drafts[object_key(line, nameless.data)], line, nameless, 1, weight_of(line, 1));
        for (const AccessObject& object : line.objects)
            add_share(drafts[object_key(line, object.data)], line, object, object.share,
                      weight_of(line, object.share));
    }
    std::vector<UnalignedObject> objects;
    for (auto& [key, draft] : drafts)
        objects.push_back(finished(draft));
    std::ranges::stable_sort(objects, [](const UnalignedObject& left, const UnalignedObject& right) {
        return std::pair(left.cost.total_s(), left.counts.hits + left.samples) >
               std::pair(right.cost.total_s(), right.counts.hits + right.samples);
    });
    return objects;
}

Finding object_finding(const UnalignedObject& object, const UnalignedAccesses& accesses) {
    Finding finding;
    finding.where = object.lines.heaviest(kMostUnalignedLines);
    describe_subject(object, finding);
    add_evidence(object, accesses, finding);
    // The trap does not err; a caught access may be a rare one, though, as long as only some were counted.
    finding.confidence = object.trapped() ? object.counts.exact ? 0.99 : 0.9
                                          : confidence_above(object.sampled_line_crossings, object.samples,
                                                             kLeastCrossing);
    if (object.cost.measured_s > 0 && object.cost.measured_s >= object.cost.total_s() / 2)
        finding.confidence = std::max(finding.confidence, 0.9);
    finding.advice = object.cause.advice;
    return finding;
}

std::string count_words(const UnalignedObject& object) {
    const AccessCounts& counts = object.counts;
    std::string words = fmt::format("{}{} time{}", object.dealt_out ? "about " : counts.exact ? "" : "at least ",
                                    grouped(counts.hits), counts.hits == 1 ? "" : "s");
    std::vector<std::string> others;
    for (const std::string& member : object.members)
        if (member != object.data.member)
            others.push_back(member);
    if (others.size() == 1)
        words += " together with member " + others[0];
    else if (!others.empty())
        words += fmt::format(" together with {} other members, {} first", others.size(), others[0]);
    return words;
}

} // namespace plumb
