#include "feed.h"
#include "html_check.h"
#include "records.h"
#include "target.h"

#include "diagnoses/registry.h"
#include "replay/replay.h"
#include "reports/access_listing.h"
#include "analysis/build_report.h"
#include "analysis/machine_report.h"
#include "reports/html/report.h"
#include "reports/json/report.h"
#include "reports/json/system_history.h"
#include "analysis/redact_report.h"
#include "reports/text/report.h"
#include "run_checks.h"
#include "seeds.h"
#include "support/error.h"
#include "trace/build_run.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace plumb::fuzz {

using namespace trace;

namespace {

// What debug info might call the code and data at an address: everybody's words, some of them markup.
class ForeignNames final : public model::SourceResolver {
  public:
    std::vector<model::SourceFrame> resolve(const model::Module& module, uint64_t address) override {
        model::SourceFrame frame{"run<&\"'>" + std::to_string(address % 7), "/src/</pre><b onclick=\"1\">/a.cpp",
                                 static_cast<uint32_t>(address % 99), module.path, false};
        if (address % 3 == 0)
            return {{"inner\033[31m\xff", "", 0, module.path, true}, frame};
        return {frame};
    }
    std::optional<model::DataName> name_static(const model::Module&, uint64_t address, uint32_t, uint64_t) override {
        return named(address, model::DataName::Kind::variable);
    }
    std::optional<model::DataName> name_local(const model::Module&, const model::DataAccess& access) override {
        return named(access.address, model::DataName::Kind::stack_variable);
    }
    std::optional<model::DataName> name_by_type(const model::Module&, const model::DataAccess& access) override {
        return named(access.address, model::DataName::Kind::pointed_structure);
    }

  private:
    static std::optional<model::DataName> named(uint64_t address, model::DataName::Kind kind) {
        if (address % 2)
            return std::nullopt;
        model::DataName name;
        name.kind = kind;
        name.name = "table<i>";
        name.member = "cells[3].<script>";
        name.expression = name.name + "." + name.member;
        name.holder = "struct record\"";
        name.holder_file = name.file = "/src/<table>.h";
        name.size = address % 4096;
        name.offset = address % 64;
        name.packed = address % 4 == 0;
        name.member_size = 8, name.member_alignment = 8, name.member_offset = 1;
        return name;
    }
};

void require_no_failure(const Report& report) {
    for (const model::Evidence& evidence : report.evidence)
        if (evidence.why.starts_with("this diagnosis failed")) {
            std::fprintf(stderr, "%s: %s\n", evidence.source.c_str(), evidence.why.c_str());
            require(false);
        }
}

void show(const Report& report) {
    for (const bool unicode : {false, true})
        require(is_harmless_text(text_report(report, {.width = 100, .colour = false, .unicode = unicode}), true));
    require(is_harmless_text(access_listing(report), true));
    const std::string json = json_report(report);
    require(is_harmless_text(json, true) && nlohmann::json::accept(json));
    const std::string page = html_report(report);
    const std::string problem = why_not_a_page(page);
    if (!problem.empty())
        std::fprintf(stderr, "%s\n", problem.c_str());
    require(problem.empty());
}

} // namespace

// The first byte chooses whether the report is redacted and where the records of the shim end and those of the recorder
// begin.
void run_reports(Bytes input) {
    Feed feed(input);
    const auto choice = feed.number<uint8_t>();
    const Bytes records = feed.rest();
    const Bytes shim = records.first(records.size() * (choice & 0x7f) / 0x7f);
    const std::vector<std::byte> inside = trace_of_records(shim, Writer::process),
                                 outside = trace_of_records(records.subspan(shim.size()), Writer::recorder);
    const auto open = [&](const std::string& name) {
        const std::vector<std::byte>& bytes = name == "process" ? inside : outside;
        return TraceReader(name, [&bytes] { return open_memory(bytes); });
    };
    try {
        std::vector<TraceReader> files;
        files.push_back(open("process"));
        files.push_back(open("node"));
        RunFacts facts;
        facts.finished = choice & 1;
        facts.command = {"./app<b>", "\"&'", "\033[1m"};
        facts.host = "node";
        model::Run run = build_run(files, &facts);
        check_run(run);
        if (run.processes.empty())
            return;
        replay::replay_mpi(run, {.threads = 1, .open = open});
        check_jobs(run);
        if (choice & 0x80)
            forget_arguments(run);
        ForeignNames names;
        model::CallPaths paths(run, names);
        Report report = build_report(paths, diagnosis_registry(), {});
        require_no_failure(report);
        if (choice & 0x80)
            redact_report(report, run, {"/data/run"});
        show(report);
        run.of_machine = true; // the same records, as of a machine
        Report machine = build_machine_report(paths, names, {});
        require_no_failure(machine);
        if (choice & 0x80)
            redact_report(machine, run, {"/data/run"});
        show(machine);
        run.start_unix_ns = 1'768'660'200'000'000'000; // times that a history may hold
        if (machine.system->seconds > 1e-3 && machine.system->seconds < 1e6)
            require(parse_history_line(history_line(machine)).has_value());
    } catch (const Error&) {
    }
}

Seeds seeds_of_reports() {
    Seeds seeds;
    const auto add = [&seeds](const char* name, uint8_t choice, const std::vector<std::byte>& inside,
                              const std::vector<std::byte>& outside) {
        const std::string shim = records_of_trace(inside, 1 << 13), recorder = records_of_trace(outside, 1 << 13);
        const size_t all = shim.size() + recorder.size();
        const auto share = static_cast<uint8_t>((shim.size() * 0x7f + all - 1) / std::max<size_t>(all, 1));
        seeds.emplace_back(name, Food().number(static_cast<uint8_t>(choice | share)).bytes(shim).bytes(recorder));
    };
    std::vector<std::vector<std::byte>> files;
    for (const auto& [name, bytes] : make_seeds())
        files.push_back(bytes);
    add("both", 0, files[0], files[1]);
    add("redacted", 0x80, files[0], files[1]);
    return seeds;
}

} // namespace plumb::fuzz
