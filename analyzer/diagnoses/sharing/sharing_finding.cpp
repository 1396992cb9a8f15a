#include "diagnoses/sharing/sharing_finding.h"

#include "analyses/time/run_totals.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>

namespace plumb {

namespace {

constexpr double kLeastOrderless = 0.25; // interleaving of the samples must be above that, most likely
constexpr size_t kMostUses = 8, kMostThreads = 8;

Location location_of(const model::SourceFrame& frame) {
    return {.file = frame.file, .function = frame.function, .module = frame.module, .line = frame.line, .share = 0,
            .inlined_from = ""};
}

std::string access_words(const SharedUse& use) {
    const std::string what = use.writes && use.reads ? "updated" : use.writes ? "written" : "read";
    return use.locked ? what + " with a lock prefix" : what;
}

// "counters[1].hits (bytes 16 to 23 of the line): updated at app.cpp:66 by 1 thread". What several threads do to the
// same bytes on the same line of source is one row.
std::vector<std::string> rows_of(const SharedObject& object) {
    struct Row {
        std::set<uint32_t> threads;
        double blamed_ns = 0;
    };
    std::map<std::string, std::pair<Row, std::tuple<std::string, std::string>>> rows;
    for (const SharedUse& use : object.uses) {
        const uint64_t offset = use.address % object.line_bytes;
        const SharedPlace& place = use.place;
        const std::string name = !place.expression.empty()                   ? place.expression
                                 : place.kind == SharedPlace::Kind::variable ? place.name
                                                                             : "memory";
        const std::string bytes = fmt::format("{} (bytes {} to {} of its line)", name, offset,
                                              offset + std::max<uint32_t>(use.width, 1) - 1);
        Location at = location_of(use.frame); // `where` has the whole path
        at.file = at.file.substr(at.file.rfind('/') + 1);
        std::string what = access_words(use) + " at " + place_name(at);
        if (!use.called_code.empty())
            what += ", in " + use.called_code;
        auto& [row, words] = rows[fmt::format("{:#x}{}{}", use.address, bytes, what)];
        row.threads.insert(use.thread);
        row.blamed_ns += use.blamed_ns;
        words = {bytes, what};
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [key, value] : rows) {
        const auto& [row, words] = value;
        order.emplace_back(row.blamed_ns, fmt::format("{}: {} by {}", std::get<0>(words), std::get<1>(words),
                                                      thread_words(row.threads.size())));
    }
    std::ranges::stable_sort(order, std::greater<>(), &std::pair<double, std::string>::first);
    std::vector<std::string> texts;
    for (const auto& [time, text] : order)
        if (texts.size() < kMostUses)
            texts.push_back(text);
    return texts;
}

const model::LineTransfer* transfer_of(const model::Run& run, const SharedObject& object) {
    for (const model::Host& host : run.hosts)
        if (host.name == run.processes[object.process].host && host.line_transfer)
            return &*host.line_transfer;
    return nullptr;
}

Gain gain_of(const model::Run& run, const SharedObject& object, double fraction) {
    if (!object.timed)
        return {fraction, "upper bound: the accesses would take no time; how fast they are on a line of their own could not be "
                          "measured on the CPUs of the run", std::nullopt, true};
    const model::LineTransfer* transfer = transfer_of(run, object);
    std::string how = fmt::format("such accesses, timed on CPUs {} and {} of this machine: {:.1f} ns each while both use the "
                                  "line, {:.1f} ns on lines of their own",
                                  transfer ? transfer->cpu : -1, transfer ? transfer->other_cpu : -1,
                                  object.contended_access_ns, object.own_access_ns);
    if (object.is_lock())
        how += "; the time of waiting for the holder of the lock is included, and remains";
    // A loop that tries to take a lock lasts as long as the lock is held, however fast its line moves.
    if (object.waiting_cost_ns > 0 && object.cost_ns > 0)
        return {fraction, how, fraction * (1 - std::min(1.0, object.waiting_cost_ns / object.cost_ns))};
    return {fraction, how};
}

void describe_subject(const DiagnosisInput& input, const SharedObject& object, Finding& finding) {
    const SharedPlace& place = object.place;
    using Kind = SharedPlace::Kind;
    finding.subject.kind = place.kind == Kind::allocation ? "allocation"
                           : place.kind == Kind::unknown  ? "call-site"
                                                          : "variable";
    finding.subject.name = place.kind != Kind::unknown   ? place.name
                           : finding.where.empty()       ? "unknown"
                                                         : place_name(finding.where[0]);
    auto& details = finding.subject.details;
    std::set<std::string> members;
    for (const SharedUse& use : object.uses)
        if (use.blamed_ns > 0 && !use.place.member.empty() && use.place.name == place.name)
            members.insert(use.place.member);
    if (!members.empty())
        details["members"] = std::vector<std::string>(members.begin(), members.end());
    std::set<std::string> others;
    for (const SharedUse& use : object.uses)
        if (use.place.kind == Kind::variable && use.place.name != place.name)
            others.insert(use.place.name);
    if (!others.empty())
        details["shares_lines_with"] = std::vector<std::string>(others.begin(), others.end());
    if (!place.type.empty())
        details["type"] = place.type;
    if (!place.declared.empty())
        details["declared"] = place.declared;
    std::vector<std::string> threads;
    for (const uint32_t thread : object.threads())
        if (threads.size() < kMostThreads)
            threads.push_back(task_name(input.run, {object.process, thread, false, 0, 0}));
    details["threads"] = threads;
}

void add_evidence(const SharedObject& object, Finding& finding) {
    const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
    auto& evidence = finding.evidence;
    evidence["line_bytes"] = number(object.line_bytes);
    evidence["line_count"] = number(object.lines);
    evidence["thread_count"] = number(object.threads().size());
    evidence["writing_thread_count"] = number(object.writers().size());
    evidence["address_sample_count"] = number(object.samples);
    evidence["handover_count"] = number(object.handovers);
    evidence["interleaving_ratio"] = object.interleaving();
    evidence["time_with_handovers_seconds"] = object.slices * object.slice_s;
    evidence["accesses"] = rows_of(object);
    if (object.polled_ns > 0)
        evidence["waiting_loop_seconds"] = object.polled_ns * 1e-9;
    if (object.timed) {
        evidence["timed_own_line_ns"] = object.own_access_ns;
        evidence["timed_contended_line_ns"] = object.contended_access_ns;
    }
    evidence["seen_by"] = std::vector<std::string>{"address sampling"};
}

} // namespace

std::string shared_words(const SharedPlace& place) {
    switch (place.kind) {
    case SharedPlace::Kind::variable:
        return "`" + place.name + "`";
    case SharedPlace::Kind::structure:
        return place.name;
    case SharedPlace::Kind::allocation:
        return "the memory allocated at " + place.name;
    case SharedPlace::Kind::unknown:
        break;
    }
    return "unnamed memory";
}

std::string thread_words(size_t count) { return fmt::format("{} thread{}", count, count == 1 ? "" : "s"); }

std::optional<Finding> sharing_finding(const DiagnosisInput& input, const SharedObject& object, const char* id) {
    const RunTotals totals = totals_of(input.run);
    if (totals.sampled_s <= 0 || totals.wall_s <= 0)
        return std::nullopt;
    Finding finding;
    finding.id = id;
    finding.cost.seconds = totals.wall_of_share(std::min(1.0, object.cost_ns * 1e-9 / totals.sampled_s));
    finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
    finding.cost.how = object.timed && !object.is_lock() ? "estimated" : "bound";
    const double pairs = static_cast<double>(std::max<uint64_t>(object.pairs, 1));
    finding.confidence = confidence_above(object.samples, totals.samples, kLeastNotedFraction) *
                         confidence_above(object.handed_over, object.pairs, kLeastOrderless * object.expected / pairs);
    if (finding.cost.fraction < kLeastNotedFraction || finding.confidence < kLeastConfidence)
        return std::nullopt;
    finding.gain = gain_of(input.run, object, finding.cost.fraction);
    finding.where = object.where.heaviest(kMostLines);
    describe_subject(input, object, finding);
    add_evidence(object, finding);
    return finding;
}

} // namespace plumb
