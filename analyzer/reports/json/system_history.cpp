#include "reports/json/system_history.h"

#include "reports/json/document.h"
#include "reports/json/system.h"

namespace plumb {

namespace {

constexpr const char* kHistorySchema = "plumb-system-history/1";
constexpr size_t kKept = 20;          // programs, routines, sources of interrupts
constexpr double kMostYears_s = 1e10; // of a time since 1970, so that it fits into nanoseconds

void keep_first(Json& list) {
    if (list.size() > kKept)
        list.erase(list.begin() + kKept, list.end());
}

double at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

uint64_t ns_at(const Json& object, const char* key) {
    const double seconds = at(object, key);
    return seconds > 0 && seconds < kMostYears_s ? static_cast<uint64_t>(seconds * 1e9) : 0;
}

CpuTime time_of(const Json& object) {
    return {at(object, "user_seconds"), at(object, "kernel_seconds"), at(object, "interrupt_seconds"),
            at(object, "steal_seconds"), at(object, "idle_seconds")};
}

int count_at(const Json& object, const char* key) {
    const double value = at(object, key);
    return value > 0 && value < 1e9 ? static_cast<int>(value) : 0;
}

const Json& list_at(const Json& object, const char* key) {
    static const Json none = Json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : none;
}

SystemSummary system_of(const Json& object) {
    SystemSummary system;
    system.seconds = at(object, "seconds");
    if (const auto time = object.find("time"); time != object.end() && time->is_object())
        system.time = time_of(*time);
    const auto sampled = object.find("is_sampled");
    system.is_sampled = sampled != object.end() && sampled->is_boolean() && sampled->get<bool>();
    system.unseen_s = at(object, "unseen_seconds"); // not in the oldest histories
    system.kernel_sampled_s = at(object, "kernel_sampled_seconds");
    system.waiting_threads = at(object, "waiting_threads");
    system.switches_hz = at(object, "switches_per_second");
    for (const Json& each : list_at(object, "cpus"))
        system.cpus.push_back({count_at(each, "cpu"), time_of(each)});
    for (const Json& each : list_at(object, "programs")) {
        SystemProgram program;
        program.name = text_at(each, "name");
        const auto kernel = each.find("is_kernel");
        program.is_kernel = kernel != each.end() && kernel->is_boolean() && kernel->get<bool>();
        program.processes = static_cast<size_t>(count_at(each, "processes"));
        program.pid = static_cast<uint32_t>(count_at(each, "pid"));
        program.user_s = at(each, "user_seconds");
        program.system_s = at(each, "kernel_seconds");
        program.waiting_s = at(each, "waiting_seconds");
        program.switches = at(each, "switches");
        program.routine = text_at(each, "kernel_routine");
        system.programs.push_back(std::move(program));
    }
    for (const Json& each : list_at(object, "kernel_routines"))
        system.routines.push_back(
            {text_at(each, "name"), at(each, "seconds"), text_at(each, "program"), at(each, "program_seconds")});
    for (const Json& each : list_at(object, "interrupts"))
        system.interrupts.push_back({text_at(each, "name"), at(each, "per_second")});
    for (const Json& each : list_at(object, "memory"))
        system.memory.push_back({count_at(each, "node"), at(each, "total_bytes"), at(each, "free_bytes"), at(each, "file_bytes"),
                                 at(each, "anonymous_bytes")});
    return system;
}

} // namespace

std::string history_line(const Report& report) {
    Json system = system_object(report);
    system.erase("verdict");
    for (const char* list : {"programs", "kernel_routines", "interrupts"})
        keep_first(system[list]);
    Json findings = Json::array();
    for (const Finding& finding : report.findings)
        findings.push_back({{"id", finding.id},
                            {"severity", to_string(finding.severity)},
                            {"title", finding.title},
                            {"gain_fraction", number(finding.gain.fraction)}});
    const double begin_s = static_cast<double>(report.run->start_unix_ns) * 1e-9;
    return json_text({{"schema", kHistorySchema},
                      {"begin_unix_seconds", begin_s},
                      {"end_unix_seconds", begin_s + report.system->seconds},
                      {"host", report.run->hosts.empty() ? std::string() : report.run->hosts.front().name},
                      {"system", std::move(system)},
                      {"findings", std::move(findings)}},
                     -1);
}

std::optional<HistoryEntry> parse_history_line(std::string_view line) {
    const Json document = Json::parse(line, nullptr, false);
    if (!document.is_object() || text_at(document, "schema") != kHistorySchema)
        return std::nullopt;
    const auto system = document.find("system");
    HistoryEntry entry{
        ns_at(document, "begin_unix_seconds"), ns_at(document, "end_unix_seconds"), text_at(document, "host"), {}, {}};
    if (system == document.end() || !system->is_object() || entry.begin_unix_ns == 0 || entry.end_unix_ns <= entry.begin_unix_ns)
        return std::nullopt;
    entry.system = system_of(*system);
    for (const Json& each : list_at(document, "findings"))
        entry.findings.push_back(
            {text_at(each, "id"), text_at(each, "severity"), text_at(each, "title"), at(each, "gain_fraction")});
    return entry;
}

} // namespace plumb
