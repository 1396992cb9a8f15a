// make-mpi-run [options] RUN: writes the run directory of an MPI job that never ran, for tests of known truth and of scale.
// The same options give the same bytes. What `plumb report RUN` must find goes to stdout as JSON.
#include "mpi_rank_file.h"

#include "support/error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace plumb::tools {

namespace {

std::vector<std::string> fields_of(const std::string& text) { return CLI::detail::split(text, ':'); }

double number_in(const std::string& text, const std::string& whole) {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value))
        throw Error(fmt::format("\"{}\" is no number, in \"{}\"", text, whole));
    return value;
}

int count_in(const std::string& text, const std::string& whole) {
    int value = 0;
    if (!CLI::detail::lexical_cast(text, value))
        throw Error(fmt::format("\"{}\" is no whole number, in \"{}\"", text, whole));
    return value;
}

LateRank late_rank(const std::string& text) { // RANK:PERCENT
    const std::vector<std::string> fields = fields_of(text);
    if (fields.size() != 2)
        throw Error(fmt::format("\"{}\" is not RANK:PERCENT", text));
    return {count_in(fields[0], text), number_in(fields[1], text) / 100};
}

// PERIOD:LENGTH[:all|:node=K/N|:rank=R][:exponential], seconds
NoiseClass noise_class(const std::string& text) {
    const std::vector<std::string> fields = fields_of(text);
    if (fields.size() < 2)
        throw Error(fmt::format("\"{}\" is not PERIOD:LENGTH[:PLACE][:exponential]", text));
    NoiseClass noise{.period_s = number_in(fields[0], text), .length_s = number_in(fields[1], text)};
    for (size_t index = 2; index < fields.size(); ++index) {
        const std::string& field = fields[index];
        const size_t slash = field.find('/');
        if (field == "exponential") {
            noise.exponential = true;
        } else if (field.starts_with("rank=")) {
            noise.rank = count_in(field.substr(5), text);
        } else if (field.starts_with("node=") && slash != std::string::npos) {
            noise.node = count_in(field.substr(5, slash - 5), text);
            noise.of_nodes = count_in(field.substr(slash + 1), text);
        } else if (field != "all") {
            throw Error(fmt::format("\"{}\" is no place of noise: all, node=K/N or rank=R", field));
        }
    }
    return noise;
}

void write_run_json(const std::string& directory, const MpiTimes& times) {
    const auto end_ns = kRunBegin_ns + static_cast<uint64_t>(times.elapsed_s() * 1e9);
    const nlohmann::json facts = {{"schema", "plumb-run/1"},
                                  {"state", "finished"},
                                  {"command", {"bulk-synchronous"}},
                                  {"host", host_name(times.pattern(), 0)},
                                  {"plumb_version", PLUMB_VERSION},
                                  {"start_unix_ns", kRunBegin_ns + 1'700'000'000'000'000'000},
                                  {"begin_ns", kRunBegin_ns},
                                  {"end_ns", end_ns},
                                  {"exit_status", 0}};
    std::ofstream out(directory + "/run.json");
    out << facts.dump(1) << '\n';
    if (!out.flush())
        throw Error(fmt::format("cannot write {}/run.json", directory));
}

void print_truth(const MpiTimes& times, uint64_t bytes) {
    const MpiTruth& truth = times.truth();
    const auto last = std::ranges::max_element(truth.times_last);
    const nlohmann::ordered_json said = {{"elapsed_s", truth.elapsed_s},
                                         {"wait_s", truth.wait_s},
                                         {"operation_s", truth.operation_s},
                                         {"late_sender_s", truth.late_sender_s},
                                         {"imbalance_s", truth.imbalance_s},
                                         {"most_often_last", last - truth.times_last.begin()},
                                         {"times_last", *last},
                                         {"bytes", bytes}};
    std::puts(said.dump(1).c_str());
}

int make_run(int argc, char** argv) {
    MpiPattern pattern;
    std::string directory;
    std::vector<std::string> late, noise;
    CLI::App app("Writes the run directory of an MPI job that never ran.");
    app.add_option("RUN", directory, "directory to be made")->required();
    app.add_option("--ranks", pattern.ranks);
    app.add_option("--ranks-per-node", pattern.ranks_per_node);
    app.add_option("--collectives", pattern.collectives, "each after compute and halo exchange");
    app.add_option("--compute", pattern.compute_s, "seconds");
    app.add_option("--jitter", pattern.jitter, "of the compute time, each rank each time");
    app.add_option("--operation", pattern.operation_s, "seconds of the collective itself");
    app.add_option("--halo", pattern.halo_bytes, "bytes to each of two neighbours, 0: none");
    app.add_option("--block", pattern.block, "consecutive ranks on a node, which the nodes get by turns");
    app.add_option("--node-step", pattern.node_step, "only every so many nodes of the machine belong to the job");
    app.add_option("--latency", pattern.latency_s, "seconds of a message");
    app.add_option("--within-latency", pattern.within_latency_s, "of one within a node");
    app.add_option("--matrix", pattern.matrix, "halo:WxH.., torus:WxH.., transpose:WxH or random:N: further messages, by counts alone");
    app.add_option("--matrix-bytes", pattern.matrix_bytes, "to each partner");
    app.add_option("--shuffle", pattern.shuffle, "seed: the cells of the matrix are dealt to the ranks at random");
    app.add_option("--late", late, "RANK:PERCENT more to compute");
    app.add_option("--noise", noise, "PERIOD:LENGTH[:all|:node=K/N|:rank=R][:exponential], seconds");
    app.add_option("--seed", pattern.seed);
    CLI11_PARSE(app, argc, argv);
    for (const std::string& text : late)
        pattern.late.push_back(late_rank(text));
    for (const std::string& text : noise)
        pattern.noise.push_back(noise_class(text));
    const MpiTimes times(pattern);
    if (!std::filesystem::create_directories(directory))
        throw Error(fmt::format("{} exists already", directory));
    std::optional<MpiMatrix> matrix;
    if (!pattern.matrix.empty())
        matrix.emplace(pattern.matrix, pattern.ranks, pattern.shuffle);
    uint64_t bytes = 0;
    for (int rank = 0; rank < pattern.ranks; ++rank)
        bytes += write_rank_file(directory, times, matrix ? &*matrix : nullptr, rank);
    write_run_json(directory, times);
    print_truth(times, bytes);
    return 0;
}

} // namespace

} // namespace plumb::tools

int main(int argc, char** argv) {
    try {
        return plumb::tools::make_run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make-mpi-run: %s\n", error.what());
        return 1;
    }
}
