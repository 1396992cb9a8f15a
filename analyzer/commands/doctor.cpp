// plumb doctor: which sources of evidence work here, which do not, why, and what would enable them.
#include "commands/command.h"
#include "platform/probes/probe.h"
#include "reports/text/terminal.h"
#include "reports/words/utf8.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fmt/core.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace plumb {

namespace {

using platform::Probe;
using platform::ProbeResult;

struct Answer {
    const Probe* probe;
    ProbeResult result;
};

const char* to_string(ProbeResult::State state) {
    switch (state) {
    case ProbeResult::State::ok:
        return "ok";
    case ProbeResult::State::limited:
        return "limited";
    case ProbeResult::State::missing:
        return "missing";
    }
    return "?";
}

std::vector<Answer> try_everything() {
    std::vector<Answer> answers;
    for (const auto probes : {platform::sampling_probes(), platform::system_probes(), platform::memory_probes(),
                              platform::alignment_probes(), platform::mpi_probes()})
        for (const Probe& probe : probes)
            answers.push_back({&probe, probe.run()});
    return answers;
}

void print_table(const std::vector<Answer>& answers) {
    const bool colour = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); }).colour;
    for (const Answer& answer : answers) {
        const char* state = to_string(answer.result.state);
        const char* paint = answer.result.state == ProbeResult::State::ok        ? "\033[32m"
                            : answer.result.state == ProbeResult::State::limited ? "\033[33m"
                                                                                 : "\033[31m";
        fmt::print("{:<17} {}{:<8}{} {}\n", answer.probe->source, colour ? paint : "", state, colour ? "\033[0m" : "",
                   answer.probe->serves);
        fmt::print("{:26} {}\n", "", sanitised(answer.result.why));
        if (!answer.result.enable.empty())
            fmt::print("{:26} to enable: {}\n", "", sanitised(answer.result.enable));
    }
}

void print_json(const std::vector<Answer>& answers) {
    nlohmann::json document = {{"schema", "plumb-doctor/1"}, {"evidence", nlohmann::json::array()}};
    for (const Answer& answer : answers)
        document["evidence"].push_back({{"source", answer.probe->source},
                                        {"serves", answer.probe->serves},
                                        {"state", to_string(answer.result.state)},
                                        {"why", answer.result.why},
                                        {"enable", answer.result.enable}});
    fmt::print("{}\n", document.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
}

} // namespace

CommandAction declare_doctor(CLI::App& subcommand) {
    auto format = std::make_shared<std::string>("text");
    subcommand.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
    return [format] {
        const auto answers = try_everything();
        *format == "json" ? print_json(answers) : print_table(answers);
        return 0;
    };
}

} // namespace plumb
