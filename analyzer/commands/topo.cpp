// plumb topo: how far the ranks that talk are from one another, what each link carries, and which order of the ranks is better.
#include "commands/command.h"
#include "commands/duration_option.h"
#include "commands/inside_plan.h"
#include "commands/run_to_place.h"
#include "network/files/described_topology.h"
#include "network/files/host_list.h"
#include "network/files/ib_port.h"
#include "network/files/launch_order.h"
#include "network/study.h"
#include "reports/html/topology.h"
#include "reports/json/topology.h"
#include "reports/output.h"
#include "reports/text/terminal.h"
#include "reports/text/topology.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

namespace plumb {

namespace {

struct TopoArguments {
    std::string run, topology, nodes, reorder, order_file, format = "text", output, time = "60s", link_rate;
    bool inside = false;
};

using network::LaunchForm;
const std::map<std::string, LaunchForm> kForms{{"rankfile", LaunchForm::rankfile},
                                               {"mpich-rank-order", LaunchForm::mpich_rank_order},
                                               {"hostfile", LaunchForm::hostfile},
                                               {"slurm", LaunchForm::slurm}};

// Of the job that this process belongs to.
std::vector<std::string> nodes_of_launcher() {
    for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
        if (const char* list = std::getenv(name))
            return network::expand_host_list(list);
    for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"})
        if (const char* path = std::getenv(name))
            return network::read_hosts(path);
    throw UsageError("--nodes launcher: no job here: none of SLURM_JOB_NODELIST, PBS_NODEFILE, LSB_DJOB_HOSTFILE, PE_HOSTFILE is set");
}

// "100Gbit", or a file with ibstat's output.
double link_rate(const std::string& text) {
    double gbit = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, gbit);
    if (error == std::errc{} && std::string_view(stop, end) == "Gbit" && gbit > 0)
        return gbit * 1e9 / 8;
    std::ifstream file(text, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    if (const auto port = file ? network::slowest_active_port(content.str()) : std::nullopt)
        return port->bytes_per_s;
    throw UsageError(
        fmt::format("--link-rate {}: a rate as 100Gbit, or a file with the output of ibstat that has an active InfiniBand port", text));
}

network::StudyPlan plan_of(const TopoArguments& arguments) {
    if (arguments.inside) {
        if (arguments.run.empty() || !arguments.nodes.empty() || !arguments.link_rate.empty())
            throw UsageError("--inside is about the hosts of a RUN: name it, without --nodes and --link-rate");
        if (!arguments.reorder.empty() && arguments.reorder != "rankfile")
            throw UsageError("--inside: only a rankfile says which cores ranks may use; --reorder rankfile");
        network::StudyPlan plan = inside_plan(arguments.run, arguments.topology);
        plan.limit_s = parse_duration_s("--time", arguments.time);
        return plan;
    }
    if (arguments.run.empty() && arguments.topology.empty())
        throw UsageError("what is to be looked at? The RUN of an MPI program (plumb run mpirun PROGRAM), or --topology FILE, or both");
    network::StudyPlan plan;
    plan.limit_s = parse_duration_s("--time", arguments.time);
    if (!arguments.topology.empty()) {
        plan.topology = network::read_topology(arguments.topology);
        plan.topology_name = arguments.topology;
    }
    if (!arguments.nodes.empty())
        plan.nodes = arguments.nodes == "launcher" ? nodes_of_launcher() : network::read_hosts(arguments.nodes);
    if (!arguments.run.empty())
        plan.job = run_to_place(arguments.run).traffic;
    if (!arguments.link_rate.empty())
        plan.topology.link_bytes_per_s = link_rate(arguments.link_rate);
    return plan;
}

// How it is used; empty where there is none to write.
std::string write_order(const TopoArguments& arguments, const network::Study& study) {
    if (arguments.reorder.empty() || !study.order_is_better())
        return {};
    const std::string path = arguments.order_file.empty() ? arguments.reorder == "mpich-rank-order" ? "MPICH_RANK_ORDER" : arguments.reorder + ".txt"
                                                          : arguments.order_file;
    const network::LaunchOrder order =
        study.is_inside()
            ? network::rankfile_of_cores(study.new_host_of(), study.new_cores_of(), path)
            : network::launch_order(kForms.at(arguments.reorder), study.new_host_of(), study.order.slot_of, path, study.new_cpus_of());
    write_where_asked([&](std::FILE* file, const std::string& name) { write_all(order.text, file, name); }, path, stdout);
    return fmt::format("written to {}: {}", path, order.usage);
}

} // namespace

CommandAction declare_topo(CLI::App& subcommand) {
    auto arguments = std::make_shared<TopoArguments>();
    subcommand.add_option("RUN", arguments->run, "Run directory of an MPI program: its messages, and where its ranks were");
    subcommand.add_option("--topology", arguments->topology,
                          "How the machine is wired: Slurm's topology.conf, the output of scontrol show topology or of ibnetdiscover, or a "
                          "plumb-topology/1 file as below");
    subcommand.add_option("--nodes", arguments->nodes,
                          "Nodes of the job, in the order of its ranks: a list as nid[00012-00015], a file with one a line, or launcher: those "
                          "of the job around this command (the hosts of the RUN)");
    subcommand.add_flag("--inside", arguments->inside,
                        "Look at what ranks share inside the hosts of the RUN: last-level caches, NUMA nodes, packages, as recorded, or as "
                        "--topology says: hwloc's XML (lstopo --of xml), or its synthetic form as \"pack:2 l3:4 core:8 pu:1\"");
    subcommand.add_option("--link-rate", arguments->link_rate,
                          "How much a cable carries in one direction, whatever the topology says: 100Gbit, or a file with the output of ibstat");
    subcommand.add_option("--reorder", arguments->reorder, "Write the better order for a launcher: rankfile (Open MPI), mpich-rank-order (Cray), "
                                                           "hostfile (MPICH, Intel MPI) or slurm")
        ->check(CLI::IsMember({"rankfile", "mpich-rank-order", "hostfile", "slurm"}));
    subcommand.add_option("--order-file", arguments->order_file, "Where to (rankfile.txt, MPICH_RANK_ORDER, hostfile.txt, slurm.txt)");
    subcommand.add_option("--time", arguments->time, "To look for a better order, at most about so long")->capture_default_str();
    subcommand.add_option("--format", arguments->format, "text, json or html")->check(CLI::IsMember({"text", "json", "html"}))->capture_default_str();
    subcommand.add_option("-o,--output", arguments->output, "Write to this file instead of the terminal");
    subcommand.footer(network::kTopologyExamples);
    return [arguments] {
        const network::Study study = network::run_study(plan_of(*arguments));
        const std::string usage = write_order(*arguments, study);
        TextStyle style;
        if (arguments->output.empty())
            style = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
        const std::string text = arguments->format == "json"   ? topology_json(study)
                                 : arguments->format == "html" ? topology_html(study)
                                                               : topology_text(study, style, usage);
        write_where_asked([&](std::FILE* file, const std::string& name) { write_all(text, file, name); }, arguments->output, stdout);
        return 0;
    };
}

} // namespace plumb
