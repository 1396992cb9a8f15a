// plumb compare BASE RUN..: what changed between runs of a program, as far as the runs can tell.
#include "analysis/analyse_run.h"
#include "commands/command.h"
#include "commands/run_to_place.h"
#include "compare/comparison.h"
#include "compare/limit.h"
#include "compare/run_set.h"
#include "network/study.h"
#include "reports/html/comparison.h"
#include "reports/json/comparison.h"
#include "reports/output.h"
#include "reports/text/comparison.h"
#include "reports/text/terminal.h"
#include "support/error.h"
#include "symbols/resolver.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace plumb {

namespace {

struct SideArguments { // where the files of one side are
    std::vector<std::string> source_maps;
    std::string sysroot;
    bool is_given() const { return !source_maps.empty() || !sysroot.empty(); }
};

struct CompareArguments {
    std::string base, format = "text", output, topology;
    std::vector<std::string> others, limits;
    SideArguments files, base_files; // of both sides, and of the base alone
    bool is_paired = false, debuginfod = true;
};

constexpr int kLimitBroken = 1;

std::vector<RunFigures> figures_of_runs(const std::vector<std::string>& runs, const SideArguments& files,
                                        const CompareArguments& arguments) {
    AnalysisOptions options;
    options.every_line = true;
    options.call_tree = arguments.format == "html";
    options.debuginfod = arguments.debuginfod;
    options.sysroot = files.sysroot;
    std::vector<std::string> given;
    for (const std::string& text : files.source_maps) {
        options.source_maps.push_back(symbols::parse_source_map(text));
        given.push_back(options.source_maps.back().second);
    }
    if (!files.sysroot.empty())
        given.push_back(files.sysroot);
    std::vector<RunFigures> figures;
    for (const std::string& run : runs)
        figures.push_back(figures_of(analyse_run(run, options).report, given));
    return figures;
}

PlacedRun placed_run(const std::string& topology, const std::string& run, const RunFigures& figures, bool is_base) {
    network::StudyPlan plan;
    plan.topology = network::read_topology(topology);
    plan.topology_name = topology;
    plan.job = run_to_place(run).traffic;
    plan.wants_order = false;
    const network::Study study = network::run_study(std::move(plan));
    PlacedRun placed{.run = run, .is_base = is_base, .wall_s = figures.wall_s, .nodes = study.allocation.nodes,
                     .pieces = study.allocation.pieces, .links_between_nodes = study.allocation.mean_hops, .links_of_bytes = {}};
    if (study.has_traffic())
        placed.links_of_bytes = study.order.before.mean_hops_of_bytes();
    return placed;
}

std::string rendered_comparison(const Comparison& comparison, const std::string& format, std::FILE* stream) {
    if (format == "html")
        return comparison_html(comparison);
    if (format == "json")
        return comparison_json(comparison);
    return comparison_text(comparison, detect_style(stream, [](const char* name) -> const char* { return std::getenv(name); }));
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
    const SideArguments& base_files = arguments.base_files.is_given() ? arguments.base_files : arguments.files;
    const std::vector<RunFigures> base_figures = figures_of_runs(base, base_files, arguments),
                                  other_figures = figures_of_runs(others, arguments.files, arguments);
    Comparison comparison = compare_runs(base_figures, other_figures, arguments.is_paired ? Pairing::in_turns : Pairing::none);
    if (!arguments.topology.empty()) {
        std::vector<PlacedRun> placed;
        for (size_t i = 0; i < base.size(); ++i)
            placed.push_back(placed_run(arguments.topology, base[i], base_figures[i], true));
        for (size_t i = 0; i < others.size(); ++i)
            placed.push_back(placed_run(arguments.topology, others[i], other_figures[i], false));
        comparison.placements = placements_of(std::move(placed));
    }
    std::vector<std::string> broken;
    for (const Limit& limit : limits)
        if (is_broken(limit, comparison))
            broken.push_back(limit.text);
    const auto write = [&](std::FILE* stream, const std::string& name) {
        write_all(rendered_comparison(comparison, arguments.format, stream), stream, name);
    };
    write_where_asked(write, arguments.output, stdout);
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
                          "metric. Of times, rates and fractions 0.5 % is the smallest limit. May be given several times");
    subcommand.add_flag("--paired", arguments->is_paired,
                        "The runs took place in turns: the first of the base beside the first of the others, and so on; in a folder, by "
                        "name");
    subcommand.add_option("--topology", arguments->topology,
                          "How the machine is wired, as plumb topo takes it: of each run also how far apart its nodes are, and whether runs "
                          "whose messages pass more links took longer")
        ->check(CLI::ExistingFile);
    subcommand.add_option("--format", arguments->format, "text, json or html")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->capture_default_str();
    subcommand.add_option("-o,--output", arguments->output, "Write to this file instead of the terminal");
    subcommand.add_option("--source-map", arguments->files.source_maps,
                          "OLD=NEW: look below NEW for source files that the debug information names below OLD; lines of different "
                          "builds are matched by their text");
    subcommand.add_option("--sysroot", arguments->files.sysroot, "Directory with the recorded machine's programs and libraries");
    subcommand.add_option("--base-source-map", arguments->base_files.source_maps, "As --source-map, for the base alone");
    subcommand.add_option("--base-sysroot", arguments->base_files.sysroot, "As --sysroot, for the base alone");
    subcommand.add_flag_callback("--no-debuginfod", [arguments] { arguments->debuginfod = false; },
                                 "Do not ask the servers of DEBUGINFOD_URLS for missing debug info");
    return [arguments] { return compare(*arguments); };
}

} // namespace plumb
