// plumb compare BASE RUN..: what changed between runs of a program, as far as the runs can tell.
#include "analysis/analyse_run.h"
#include "commands/command.h"
#include "compare/comparison.h"
#include "compare/limit.h"
#include "compare/run_set.h"
#include "reports/json/comparison.h"
#include "reports/text/comparison.h"
#include "reports/text/terminal.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace plumb {

namespace {

struct CompareArguments {
    std::string base, format = "text";
    std::vector<std::string> others, limits;
    bool is_paired = false;
};

constexpr int kLimitBroken = 1;

std::vector<RunFigures> figures_of_runs(const std::vector<std::string>& runs) {
    std::vector<RunFigures> figures;
    for (const std::string& run : runs)
        figures.push_back(figures_of(analyse_run(run, {}).report));
    return figures;
}

int compare(const CompareArguments& arguments) {
    std::vector<Limit> limits;
    for (const std::string& text : arguments.limits)
        limits.push_back(parse_limit(text));
    const std::vector<std::string> base = runs_in(arguments.base);
    std::vector<std::string> others;
    for (const std::string& path : arguments.others)
        for (std::string& run : runs_in(path))
            others.push_back(std::move(run));
    if (arguments.is_paired && base.size() != others.size())
        throw UsageError(fmt::format("--paired: each run of the base needs one beside it, and there are {} and {}", base.size(),
                                     others.size()));
    const Comparison comparison =
        compare_runs(figures_of_runs(base), figures_of_runs(others), arguments.is_paired ? Pairing::in_turns : Pairing::none);
    std::vector<std::string> broken;
    for (const Limit& limit : limits)
        if (is_broken(limit, comparison))
            broken.push_back(limit.text);
    const bool is_text = arguments.format == "text";
    const TextStyle style = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
    const std::string text = is_text ? comparison_text(comparison, style) : comparison_json(comparison);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write the comparison to the standard output");
    for (const std::string& one : broken)
        std::fprintf(stderr, "plumb: this limit is broken: %s\n", one.c_str());
    return broken.empty() ? 0 : kLimitBroken;
}

} // namespace

CommandAction declare_compare(CLI::App& subcommand) {
    auto arguments = std::make_shared<CompareArguments>();
    subcommand.add_option("BASE", arguments->base, "Run directory, or a folder with several runs")->required();
    subcommand.add_option("RUN", arguments->others, "The runs to compare with it: run directories, or folders with several")->required();
    subcommand.add_option("--fail-if", arguments->limits,
                          "Exit with status 1 where a figure changed by more than this: \"wall > +3%\", \"cpu < -10%\", or the name of a "
                          "metric. May be given several times");
    subcommand.add_flag("--paired", arguments->is_paired,
                        "The runs took place in turns: the first of the base beside the first of the others, and so on; in a folder, by "
                        "name");
    subcommand.add_option("--format", arguments->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    return [arguments] { return compare(*arguments); };
}

} // namespace plumb
