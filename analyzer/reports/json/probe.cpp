#include "reports/json/probe.h"

#include "reports/json/document.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using nlohmann::ordered_json;
using probe::ProbeOutcome;

ordered_json median_interval_json(const statistics::Spread& spread) {
    return spread.is_known ? ordered_json::array({spread.low, spread.high}) : ordered_json(nullptr);
}

ordered_json probe_figure_json(const probe::Figure& figure) {
    return {{"test", figure.test}, {"place", figure.place}, {"unit", name_of(figure.unit)}, {"median", figure.spread.median},
            {"median_95", median_interval_json(figure.spread)}, {"least", figure.spread.least}, {"most", figure.spread.most},
            {"count", figure.spread.count}};
}

const char* cause_name(probe::SlowCpu::Cause cause) {
    switch (cause) {
    case probe::SlowCpu::Cause::others: return "others";
    case probe::SlowCpu::Cause::itself: return "itself";
    case probe::SlowCpu::Cause::both: break;
    }
    return "both";
}

ordered_json slow_json(const ProbeOutcome& outcome) {
    ordered_json all = ordered_json::array();
    for (const probe::SlowCpu& slow : outcome.slow) {
        ordered_json seen = ordered_json::array();
        for (const record::CpuUse& use : outcome.measured.others)
            if (use.cpu == slow.cpu && seen.size() < 8)
                seen.push_back({{"name", use.name}, {"pid", use.pid}, {"cpu_seconds", static_cast<double>(use.run_ns) * 1e-9}});
        all.push_back({{"cpu", slow.cpu}, {"test", name_of(slow.test)}, {"slowdown", slow.slowdown},
                       {"interval", ordered_json::array({slow.low, slow.high})}, {"cpu_time_slowdown", slow.cpu_slowdown},
                       {"cause", cause_name(slow.cause)}, {"seen_there", seen}});
    }
    return all;
}

ordered_json shared_json(const ProbeOutcome& outcome) {
    ordered_json caches = ordered_json::array(), other = ordered_json::array();
    for (const probe::CloseGroups& level : outcome.shared.caches)
        caches.push_back({{"slowest_seconds", level.slowest_ns * 1e-9}, {"groups", level.groups}});
    for (const probe::Disagreement& one : outcome.disagreements)
        other.push_back({{"cpus", ordered_json::array({one.first, one.second})},
                         {"what", one.what == probe::Disagreement::What::core ? "core" : "cache"},
                         {"kernel_says_shared", one.kernel_says_shared}});
    return {{"cores", outcome.shared.cores}, {"memory_paths", outcome.shared.memory_paths}, {"caches", caches},
            {"kernel_disagrees", other}, {"pairs", outcome.pairs.size()}, {"pairs_left_out", outcome.measured.pairs_left_out}};
}

ordered_json earlier_json(const probe::EarlierProbe& probe) {
    return {{"id", probe.id}, {"begin_seconds", probe.begin_s}, {"took_seconds", probe.took_s}, {"rounds", probe.rounds},
            {"host", probe.host}, {"kernel", probe.kernel}, {"cpu_model", probe.cpu_model}, {"cpu_count", probe.cpu_count},
            {"memory_bytes", probe.memory_bytes}, {"cpus", probe.cpus}};
}

ordered_json against_json(const probe::Against& against) {
    ordered_json changes = ordered_json::array();
    for (const probe::Change& change : against.changes)
        changes.push_back({{"test", change.now.test}, {"place", change.now.place}, {"unit", name_of(change.now.unit)},
                           {"before", change.before.spread.median}, {"before_95", median_interval_json(change.before.spread)},
                           {"now", change.now.spread.median}, {"now_95", median_interval_json(change.now.spread)},
                           {"slowdown", change.slowdown}, {"is_slower", change.is_slower}, {"is_faster", change.is_faster}});
    return {{"probe", earlier_json(against.earlier)}, {"is_slower", against.is_slower()}, {"machine_changes", against.machine},
            {"changes", changes}};
}

ordered_json cpus_json(const probe::Measured& measured) {
    ordered_json cpus = ordered_json::array();
    for (const probe::CpuTurns& cpu : measured.cpus) {
        const auto stolen = measured.stolen_share.find(cpu.cpu);
        const double share = probe::share_of_cpu(cpu);
        cpus.push_back({{"cpu", cpu.cpu},
                        {"had_cpu_share", share >= 0 ? ordered_json(share) : ordered_json(nullptr)},
                        {"stolen_share",
                         stolen == measured.stolen_share.end() ? ordered_json(nullptr) : ordered_json(stolen->second)}});
    }
    return cpus;
}

std::string written(const ordered_json& document) {
    return document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

std::string probe_json(const ProbeOutcome& outcome) {
    const probe::Measured& measured = outcome.measured;
    ordered_json figures = ordered_json::array();
    for (const probe::Figure& figure : outcome.figures)
        figures.push_back(probe_figure_json(figure));
    ordered_json machine = earlier_json(record_of(outcome));
    machine.erase("id");
    machine["clock_source"] = measured.machine.clock_source;
    const ordered_json document{
        {"schema", "plumb-probe/1"},
        {"probe", machine},
        {"turn_seconds", static_cast<double>(measured.turn_ns) * 1e-9},
        {"arena_bytes", measured.arena_bytes},
        {"signal", measured.signal ? ordered_json(measured.signal) : ordered_json(nullptr)},
        {"limit", outcome.limit},
        {"is_sick", outcome.is_sick()},
        {"slow_cpus", slow_json(outcome)},
        {"cpus", cpus_json(measured)},
        {"shared", shared_json(outcome)},
        {"figures", figures},
        {"huge_pages", {{"share", measured.pages.huge_share}, {"why_not", text_or_null(measured.pages.why_not)}}},
        {"disk",
         {{"folder", measured.disk.folder},
          {"is_direct", measured.disk.is_direct},
          {"why_not", text_or_null(measured.disk.why_not)}}},
        {"history", outcome.history_file.empty()
                        ? ordered_json(nullptr)
                        : ordered_json{{"file", outcome.history_file}, {"id", outcome.history_id}}},
        {"against", outcome.against ? against_json(*outcome.against) : ordered_json(nullptr)}};
    return written(document);
}

std::string probe_list_json(const std::vector<probe::EarlierProbe>& probes, const std::string& file) {
    ordered_json all = ordered_json::array();
    for (const probe::EarlierProbe& probe : probes)
        all.push_back(earlier_json(probe));
    return written({{"schema", "plumb-probe-list/1"}, {"file", file}, {"probes", all}});
}

} // namespace plumb
