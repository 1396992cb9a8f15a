// plumb simulate: what noise costs a bulk-synchronous job, and what removing it gains.
#include "commands/command.h"
#include "commands/duration_option.h"
#include "commands/run_to_simulate.h"
#include "noise/classes_file.h"
#include "reports/html/simulation.h"
#include "reports/json/simulation.h"
#include "reports/text/simulation.h"
#include "reports/text/terminal.h"
#include "simulate/study.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace plumb {

namespace {

struct SimulateArguments {
    std::string run, noise, collective = "barrier", latency, per_hop = "5us", format = "text", output;
    uint32_t ranks = 0, per_node = 0, cpus_per_node = 0, cycles = 0, seeds = 20;
    double imbalance = 0;
    std::vector<std::string> granularity, without, scale;
    bool spare_cpu = false, coschedule = false, cycles_given = false, ranks_given = false;
};

const std::map<std::string, simulate::Collective> kCollectives{{"barrier", simulate::Collective::barrier},
                                                               {"allreduce", simulate::Collective::allreduce},
                                                               {"halo1", simulate::Collective::halo1},
                                                               {"halo2", simulate::Collective::halo2},
                                                               {"halo3", simulate::Collective::halo3}};
constexpr uint32_t kMostSeeds = 10'000, kMostScale = 1u << 20, kDefaultCycles = 1000;

uint32_t parse_scale(const std::string& text) {
    uint32_t factor = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
    const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (error != std::errc{} || factor == 0 || factor > kMostScale || (!rest.empty() && rest != "x"))
        throw UsageError(
            fmt::format("--scale {}: whole multiples of the job are needed, as 2x,4x; {}x is the most", text, kMostScale));
    return factor;
}

// A job of which nothing was recorded.
void set_job(const SimulateArguments& arguments, simulate::StudyPlan& plan) {
    if (arguments.noise.empty() || !arguments.ranks_given)
        throw UsageError("what is to be simulated? The RUN of an MPI program (plumb run mpirun PROGRAM), or --noise FILE "
                         "and --ranks N");
    simulate::Job& job = plan.base.job;
    plan.base.machine = noise::read_classes_file(arguments.noise);
    const model::NoiseMachine& machine = plan.base.machine;
    job.ranks = arguments.ranks;
    job.cpus_per_node = arguments.cpus_per_node ? arguments.cpus_per_node : machine.cpus_per_node;
    job.ranks_per_node = arguments.per_node ? arguments.per_node : job.cpus_per_node;
    if (job.ranks_per_node == 0)
        throw UsageError(fmt::format("--per-node is needed: {} does not say how many CPUs a node has", arguments.noise));
    if (job.cpus_per_node == 0)
        job.cpus_per_node = job.ranks_per_node;
    job.cycles = kDefaultCycles;
    job.cycle_work_s = {0};
    job.collective = kCollectives.at(arguments.collective);
    job.per_hop_s = parse_duration_s("--per-hop", arguments.per_hop);
    if (!arguments.latency.empty())
        job.collective_s = parse_duration_s("--latency", arguments.latency);
    plan.imbalance = arguments.imbalance / 100;
    plan.granularity_s = {0, 1e-3, 5e-3};
}

void set_recorded_job(const SimulateArguments& arguments, simulate::StudyPlan& plan) {
    simulate::RecordedJob recorded = run_to_simulate(arguments.run);
    plan.base = std::move(recorded.setting);
    plan.recorded = std::move(recorded.facts);
    plan.granularity_s = {plan.recorded->work_s};
    if (!arguments.noise.empty()) {
        plan.base.machine = noise::read_classes_file(arguments.noise);
        plan.recorded->own_noise = false;
    }
}

simulate::StudyPlan plan_of(const SimulateArguments& arguments) {
    simulate::StudyPlan plan;
    if (arguments.run.empty())
        set_job(arguments, plan);
    else
        set_recorded_job(arguments, plan);
    simulate::Job& job = plan.base.job;
    const model::NoiseMachine& machine = plan.base.machine;
    if (arguments.cycles_given)
        job.cycles = arguments.cycles;
    simulate::check_job(job);
    if (!arguments.granularity.empty())
        plan.granularity_s.clear();
    for (const std::string& text : arguments.granularity)
        plan.granularity_s.push_back(parse_duration_s("--granularity", text));
    for (const std::string& text : arguments.without)
        plan.changes.push_back(simulate::parse_without(text, machine));
    if (arguments.spare_cpu)
        plan.changes.push_back({simulate::Change::Kind::spare_cpu, {}, 0, 0});
    if (arguments.coschedule)
        plan.changes.push_back({simulate::Change::Kind::coschedule, {}, 0, 0});
    plan.together = plan.changes;
    if (plan.changes.empty()) {
        plan.changes = simulate::all_removals(machine);
        for (const model::NoiseClass& one : machine.classes)
            plan.together.push_back({simulate::Change::Kind::without_class, one.name, 0, 0});
    }
    for (const std::string& text : arguments.scale)
        plan.scales.push_back(parse_scale(text));
    plan.seeds = arguments.seeds;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        plan.threads = static_cast<unsigned>(CPU_COUNT(&allowed));
    return plan;
}

void write_simulation(const std::string& text, const std::string& path) {
    std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
    const bool is_written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    const int error = errno;
    const bool is_closed = path.empty() || !file || std::fclose(file) == 0;
    if (!is_written || !is_closed)
        throw Error(fmt::format("cannot write the simulation to {}: {}", path.empty() ? "the standard output" : path,
                                std::strerror(is_written ? errno : error)));
}

} // namespace

CommandAction declare_simulate(CLI::App& subcommand) {
    auto arguments = std::make_shared<SimulateArguments>();
    const auto run = subcommand.add_option("RUN", arguments->run,
                                           "Run directory of an MPI program: its ranks, what they did between collectives, and its "
                                           "noise");
    subcommand.add_option("--noise", arguments->noise, "File with the classes of noise of the machine (plumb-noise/1)");
    const auto ranks = subcommand.add_option("--ranks", arguments->ranks, "Ranks of the job")->excludes(run);
    subcommand.add_option("--per-node", arguments->per_node, "Ranks on a node (as many as it has CPUs)")->excludes(run);
    subcommand.add_option("--cpus-per-node", arguments->cpus_per_node,
                          "CPUs of a node (what the file of classes says, else --per-node)")
        ->excludes(run);
    subcommand
        .add_option("--granularity", arguments->granularity,
                    "Work of each rank in a cycle without noise, separated by commas (0,1ms,5ms; that of the RUN)")
        ->delimiter(',');
    const auto cycles = subcommand.add_option("--cycles", arguments->cycles, "Cycles of each simulated run (1000; those of the RUN)");
    subcommand.add_option("--without", arguments->without,
                          "What to remove: a CLASS, group=NAME or daemon=NAME; or node=K or node=K/N: the job leaves out node "
                          "K, or node K of each N nodes. May be given several times. Without any change: each class, group and "
                          "set of nodes in turn");
    subcommand.add_flag("--spare-cpu", arguments->spare_cpu,
                        "Leave one CPU of each node without a rank; the others do its work");
    subcommand.add_flag("--coschedule", arguments->coschedule,
                        "Let the events of each class happen at the same moment everywhere");
    subcommand.add_option("--scale", arguments->scale, "Simulate larger jobs, too, separated by commas: 2x,4x")->delimiter(',');
    subcommand
        .add_option("--collective", arguments->collective,
                    "What ends a cycle: barrier, allreduce, or an exchange with "
                    "neighbours on a grid: halo1, halo2, halo3")
        ->excludes(run)
        ->check(CLI::IsMember({"barrier", "allreduce", "halo1", "halo2", "halo3"}))
        ->capture_default_str();
    subcommand.add_option("--per-hop", arguments->per_hop, "Time of one message step of the collective")
        ->excludes(run)
        ->capture_default_str();
    subcommand.add_option("--latency", arguments->latency, "Time of the whole collective, as measured, instead of --per-hop")
        ->excludes(run);
    subcommand.add_option("--imbalance", arguments->imbalance, "Percent by which the slowest rank has more work than the mean")
        ->excludes(run)
        ->check(CLI::Range(0.0, 100.0));
    subcommand.add_option("--seeds", arguments->seeds, "Runs of each case, with other random numbers")
        ->check(CLI::Range(1u, kMostSeeds))
        ->capture_default_str();
    subcommand.add_option("--format", arguments->format, "text, json or html")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->capture_default_str();
    subcommand.add_option("-o,--output", arguments->output, "Write to this file instead of the terminal");
    return [arguments, cycles, ranks] {
        arguments->cycles_given = !cycles->empty();
        arguments->ranks_given = !ranks->empty();
        const auto begin = std::chrono::steady_clock::now();
        const simulate::Study study = simulate::run_study(plan_of(*arguments));
        const double took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (arguments->format == "json") {
            write_simulation(simulation_json(study), arguments->output);
            return 0;
        }
        if (arguments->format == "html") {
            write_simulation(simulation_html(study), arguments->output);
            return 0;
        }
        TextStyle style;
        if (arguments->output.empty())
            style = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
        write_simulation(simulation_text(study, style, took_s), arguments->output);
        return 0;
    };
}

} // namespace plumb
