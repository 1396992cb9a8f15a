#include "diagnoses/memory/kernel_numa_counters.h"
#include "model/rank_count.h"
#include "reports/json/accesses.h"
#include "reports/json/account.h"
#include "reports/json/document.h"
#include "reports/json/events.h"
#include "reports/json/memory.h"
#include "reports/json/mpi.h"
#include "reports/json/noise.h"
#include "reports/json/system.h"
#include "reports/json/report.h"
#include "reports/words/line_texts.h"
#include "reports/words/regions.h"
#include "reports/words/run_summary.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fmt/chrono.h>

namespace plumb {

namespace {

Json value_of(const Value& value) {
    return std::visit(
        [](const auto& held) -> Json {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>)
                return number(held);
            else
                return held;
        },
        value);
}

std::string utc_time(uint64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z", fmt::gmtime(seconds), unix_ns / 1'000'000 % 1000);
}

// "CPU time" -> "cpu_time"
std::string key_of(std::string name) {
    for (char& letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        letter = std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '_';
    }
    return name;
}

Json own_cost(const OwnCost& cost) {
    return {{"fraction", number(cost.fraction)},
            {"seconds", number(cost.seconds)},
            {"bytes", cost.bytes},
            {"how", cost.how}};
}

// As the ranks said, else by the libraries that were loaded; null without MPI. Open MPI and the MPICH family both have a
// libmpi.so.
Json mpi_of(const model::Run& run) {
    for (const model::MpiJob& job : run.mpi_jobs)
        if (const std::string name = mpi_library_name(job.library); !name.empty())
            return name;
    bool mpi = false, open_mpi = false;
    for (const model::Process& process : run.processes)
        for (const model::Module& module : process.modules) {
            const std::string name = module.path.substr(module.path.rfind('/') + 1);
            mpi = mpi || name.starts_with("libmpi.so") || name.starts_with("libmpich.so");
            open_mpi = open_mpi || name.starts_with("libopen-pal.so") || name.starts_with("libopen-rte.so");
        }
    return mpi ? Json(open_mpi ? "Open MPI" : "MPICH") : Json(nullptr);
}

Json run_object(const Report& report) {
    const model::Run& run = *report.run;
    const size_t ranks = model::rank_count(run);
    size_t threads = 0;
    for (const model::Process& process : run.processes)
        threads += process.threads.size();
    Json hosts = Json::array();
    for (const model::Host& host : run.hosts) {
        hosts.push_back({{"name", host.name}, {"cpus", host.cpu_count}, {"allowed_cpus", host.allowed_cpus}});
        if (const auto counts = memory_counts_of(host); !counts.empty())
            hosts.back()["memory_counts"] = counts;
    }
    return {{"command", run.command},
            {"start", utc_time(run.start_unix_ns)},
            {"seconds", number(static_cast<double>(run.wall_ns()) * 1e-9)},
            {"cpu_seconds", number(report.cpu_seconds)},
            {"hosts", hosts},
            {"processes", run.processes.size()},
            {"threads", threads},
            {"ranks", ranks},
            {"mpi", mpi_of(run)},
            {"complete", run.complete},
            {"exit_status", run.exit_status ? Json(*run.exit_status) : Json(nullptr)},
            {"plumb_version", run.plumb_version},
            {"directory", run.directory},
            {"notes", run.notes},
            {"own_cost", own_cost(report.own_cost)}};
}

Json evidence_list(const Report& report) {
    Json list = Json::array();
    for (const model::Evidence& evidence : report.evidence) {
        const char* state = evidence.state == model::Evidence::State::ok        ? "ok"
                            : evidence.state == model::Evidence::State::limited ? "limited"
                                                                                : "missing";
        list.push_back({{"source", evidence.source},
                        {"state", state},
                        {"why", evidence.why},
                        {"enable", evidence.enable}});
    }
    return list;
}

// Names that are plain numbers by their nature (DESIGN: cpu, rank and node) are numbers in JSON.
Json subject_name(const Subject& subject) {
    int64_t plain = 0;
    const char *begin = subject.name.data(), *end = begin + subject.name.size();
    const bool numbered = subject.kind == "cpu" || subject.kind == "rank" || subject.kind == "node";
    const auto [stop, error] = std::from_chars(begin, end, plain);
    return numbered && error == std::errc() && stop == end ? Json(plain) : Json(subject.name);
}

Json location_object(const Location& location) {
    Json object = {{"file", location.file},
                   {"line", location.line},
                   {"function", location.function},
                   {"module", location.module},
                   {"share", number(location.share)}};
    if (!location.inlined_from.empty())
        object["inlined_from"] = location.inlined_from;
    return object;
}

Json gain_of(const Gain& gain) {
    Json json = {{"fraction", number(gain.fraction)},
                 {"kind", gain.kind() == Gain::Kind::upper_bound ? "upper-bound" : "estimate"},
                 {"how", gain.how}};
    if (gain.at_least)
        json["at_least_fraction"] = number(*gain.at_least);
    return json;
}

Json finding_object(const Finding& finding) {
    Json where = Json::array(), advice = Json::array(), evidence = Json::object();
    for (const Location& location : finding.where)
        where.push_back(location_object(location));
    for (const auto& [key, value] : finding.evidence)
        evidence[key] = value_of(value);
    for (const Advice& item : finding.advice) {
        Json object = {{"what", item.what}, {"how", item.how}, {"applies", item.applies}};
        if (!item.command.empty())
            object["command"] = item.command;
        advice.push_back(object);
    }
    Json subject = nullptr;
    if (!finding.subject.kind.empty()) {
        subject = {{"kind", finding.subject.kind}, {"name", subject_name(finding.subject)}};
        for (const auto& [key, value] : finding.subject.details)
            subject.emplace(key, value_of(value));
    }
    return {{"id", finding.id},
            {"severity", to_string(finding.severity)},
            {"confidence", number(finding.confidence)},
            {"title", finding.title},
            {"whole", whole_words(finding)},
            {"cost",
             {{"seconds", number(finding.cost.seconds)},
              {"fraction", number(finding.cost.fraction)},
              {"how", finding.cost.how}}},
            {"gain", gain_of(finding.gain)},
            {"overlaps", finding.overlaps},
            {"where", where},
            {"subject", subject},
            {"evidence", evidence},
            {"advice", advice}};
}

Json hot_line_object(const HotLine& line) {
    return {{"file", line.frame.file},
            {"line", line.frame.line},
            {"function", line.frame.function},
            {"module", line.frame.module},
            {"leaf_function", line.leaf_function},
            {"leaf_module", line.leaf_module},
            {"seconds", number(line.seconds)},
            {"fraction", number(line.fraction)},
            {"kernel_fraction", number(line.kernel_fraction)}};
}

Json region_list(const model::Run& run) {
    Json regions = Json::array();
    for (const RegionRow& row : region_table(run))
        regions.push_back({{"name", row.name},
                           {"entries", row.entries},
                           {"seconds", number(row.seconds)},
                           {"longest_seconds", number(row.longest_seconds)},
                           {"threads", row.threads},
                           {"processes", row.processes},
                           {"fraction", number(row.fraction)},
                           {"open", row.open}});
    return regions;
}

} // namespace

Json json_document(const Report& report) {
    Json metrics = Json::object(), findings = Json::array(), lines = Json::array(), libraries = Json::array();
    for (const Metric& metric : report.metrics)
        if (std::isfinite(metric.value))
            metrics[key_of(metric.name)] = {
                {"value", metric.value}, {"unit", metric.unit}, {"how", metric.how}};
    for (const Finding& finding : report.findings)
        findings.push_back(finding_object(finding));
    for (const HotLine& line : report.hot_lines)
        lines.push_back(hot_line_object(line));
    for (const LibraryShare& share : report.libraries)
        libraries.push_back({{"module", share.module},
                             {"seconds", number(share.seconds)},
                             {"fraction", number(share.fraction)}});
    Json document = {{"schema", kReportSchema}, {"run", run_object(report)}, {"evidence", evidence_list(report)},
            {"account", account_object(report.account)},
            {"metrics", metrics},      {"findings", findings},      {"looked_for", report.looked_for},
            {"verdict", {{"outcome", to_string(outcome_of(report))}, {"words", verdict(report)}}},
            {"hot_lines", lines},      {"libraries", libraries},    {"accesses", accesses_array(report)},
            {"regions", region_list(*report.run)},
            {"mpi_jobs", mpi_jobs_array(report)}};
    if (report.noise)
        document["noise"] = noise_object(report);
    if (report.system)
        document["system"] = system_object(report);
    if (Json events = sampled_events_array(report); !events.empty())
        document["sampled_events"] = std::move(events);
    if (Json memory = memory_object(report); !memory.is_null())
        document["memory"] = std::move(memory);
    return document;
}

std::string json_text(const Json& document, int indent) {
    return document.dump(indent, ' ', true, // a name with bidirectional overrides must not reach a terminal
                          Json::error_handler_t::replace);
}

std::string json_report(const Report& report, int indent) {
    return json_text(json_document(report), indent) + "\n";
}

} // namespace plumb
