#include "synthetic_mpi.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace plumb::synthetic {

namespace {

constexpr int kRanks_per_host = 4;
constexpr double kElapsed_s = 2, kLate_s = 0.6, kOperation_s = 0.02, kTransfer_s = 0.1;
constexpr uint64_t kCollectives = 1'000, kHaloBytes = 1'024;

model::MpiRankRow rank_row(int rank, int size) {
    const bool late = rank == size / 3;
    model::MpiRankRow row;
    row.rank = rank;
    row.host = static_cast<uint32_t>(rank / kRanks_per_host);
    row.elapsed_s = kElapsed_s;
    row.collective_wait_s = late ? 0 : kLate_s;
    row.collective_s = kOperation_s;
    row.other_mpi_s = kTransfer_s;
    row.mpi_s = row.collective_wait_s + row.collective_s + row.other_mpi_s;
    row.compute_s = kElapsed_s - row.mpi_s;
    row.collectives = kCollectives;
    if (late) {
        row.times_last = kCollectives - 40;
        row.caused_wait_s = kLate_s * (size - 1);
        row.gain_s = row.lateness_s = row.lateness.computing_s = kLate_s;
    }
    return row;
}

model::MpiCallSite call_site(const char* call, uint32_t kind, uint32_t path, int size, double time_s, uint64_t bytes) {
    model::MpiCallSite site;
    site.call = call;
    site.kind = kind;
    site.path = path;
    site.comm = 0;
    site.ranks = static_cast<uint32_t>(size);
    site.calls = kCollectives * static_cast<uint64_t>(size);
    site.sent_bytes = site.calls * bytes;
    site.sizes[static_cast<size_t>(std::bit_width(bytes))] = site.calls;
    site.time_s = time_s;
    site.longest_s = 10 * time_s / static_cast<double>(site.calls);
    site.longest_rank = site.most_rank = size - 1;
    site.least_rank_s = site.most_rank_s = time_s / size;
    return site;
}

// Two outliers and sixteen bins; the last bin was in none of the last columns.
model::MpiHeatMap heat_map(int size) {
    constexpr int kColumns = 12, kBins = 16;
    model::MpiHeatMap map;
    map.rows = {{size / 3, 1, true}, {size - 1, 1, true}};
    for (int bin = 0; bin < kBins; ++bin)
        map.rows.push_back({bin * size / kBins, static_cast<uint32_t>(size / kBins), false});
    for (int column = 0; column < kColumns; ++column)
        map.columns.push_back({column * kElapsed_s / kColumns, (column + 1) * kElapsed_s / kColumns, kCollectives / kColumns});
    for (size_t row = 0; row < map.rows.size(); ++row)
        for (size_t column = 0; column < map.columns.size(); ++column) {
            const bool late = row == 0, gone = row + 1 == map.rows.size() && column > 8;
            const float mean = gone ? std::numeric_limits<float>::quiet_NaN()
                                    : late ? 6e-4F : 1e-6F * static_cast<float>(static_cast<int>(row + column) % 7 - 3);
            map.mean_s.push_back(mean);
            map.latest_s.push_back(2 * mean);
        }
    return map;
}

// A pattern of ten, and some slow cycles; 24 points of the series.
model::MpiCycles cycles() {
    constexpr uint64_t kCount = kCollectives - 1, kPoints = 24;
    model::MpiCycles cycles;
    cycles.path = 1;
    cycles.call = "MPI_Allreduce";
    cycles.count = kCount;
    cycles.least_s = cycles.tenth_s = 1.4e-3;
    cycles.mean_s = 2e-3;
    cycles.median_s = 1.5e-3;
    cycles.ninetieth_s = 2.5e-3;
    cycles.most_s = 9e-3;
    for (uint64_t point = 0; point < kPoints; ++point) {
        const uint64_t first = point * kCount / kPoints, behind = (point + 1) * kCount / kPoints;
        cycles.series.push_back({first, behind - first, static_cast<double>(first) * 2e-3, static_cast<double>(behind) * 2e-3, 1.4e-3,
                                 1.8e-3 + 1e-5 * static_cast<double>(point % 5) + (point < 12 ? 0 : 3e-4), point % 6 ? 3e-3 : 9e-3});
    }
    cycles.histogram = {{1.35e-3, 1.47e-3, 400}, {1.47e-3, 1.6e-3, 400}, {1.6e-3, 1.75e-3, 0}, {1.75e-3, 2.5e-3, 150}, {2.5e-3, 9.2e-3, 49}};
    cycles.period = 10;
    cycles.attainable_s = 1.5e-3;
    cycles.usual_s = 1.6e-3;
    cycles.mean = {1.2e-3, 5e-4, 2e-4, 0, 5e-5, 5e-5, 0};
    cycles.loss = {1e-5, 2.5e-4, 2e-4, 0, 0, 4e-5, 0};
    cycles.slow = 49;
    cycles.look_s = 1e-3;
    return cycles;
}

model::MpiMatrix matrix(int size) {
    model::MpiMatrix matrix;
    matrix.bin = static_cast<uint32_t>(std::max(1, size / 256));
    const uint32_t bins = static_cast<uint32_t>(size) / matrix.bin;
    for (uint32_t from = 0; from < bins; ++from)
        for (const uint32_t to : {(from + bins - 1) % bins, (from + 1) % bins})
            matrix.places.push_back({from, to, kCollectives * matrix.bin, kCollectives * matrix.bin * kHaloBytes});
    matrix.heaviest_pairs = {{0, 1, kCollectives, kCollectives * kHaloBytes}};
    return matrix;
}

} // namespace

void add_mpi_job(model::Run& run, int size) {
    model::MpiJob& job = run.mpi_jobs.emplace_back();
    job.name = "4242";
    job.library = model::MpiProcess::Library::open_mpi;
    job.library_version = "Open MPI v4.1.4, package: Debian Open MPI";
    job.size = size;
    job.hosts = static_cast<uint32_t>((size + kRanks_per_host - 1) / kRanks_per_host);
    for (uint32_t host = static_cast<uint32_t>(run.hosts.size()); host < job.hosts; ++host) {
        run.hosts.emplace_back();
        run.hosts.back().name = fmt::format("node{:03}", host + 1);
    }
    job.elapsed_s = kElapsed_s;
    for (int rank = 0; rank < size; ++rank)
        job.ranks.push_back(rank_row(rank, size));
    job.comms.push_back({.name = "MPI_COMM_WORLD",
                         .size = static_cast<uint32_t>(size),
                         .members_recorded = static_cast<uint32_t>(size),
                         .world = true,
                         .epochs = kCollectives});
    model::MpiCallSite all = call_site("MPI_Allreduce", trace::kMpiCollectiveCall | trace::kMpiSynchronising, 1, size,
                                       kLate_s * (size - 1) + kOperation_s * size, 8);
    all.wait_s = kLate_s * (size - 1);
    all.operation_s = kOperation_s * size;
    job.sites = {all, call_site("MPI_Waitall", trace::kMpiWait, 2, size, kTransfer_s * size * 0.8, 0),
                 call_site("MPI_Isend", trace::kMpiSend | trace::kMpiNonblocking, 3, size, kTransfer_s * size * 0.2, kHaloBytes)};
    for (const size_t power : {4, 7, 8}) // of several sizes
        job.sites[2].sizes[power] = job.sites[2].calls / power;
    job.arrivals = heat_map(size);
    job.matrix = matrix(size);
    job.message_sizes[11] = 2 * kCollectives * static_cast<uint64_t>(size);
    job.within_host = {true, 1.5e-6, 1e-10, 2e-7, 5'000};
    job.cycles = cycles();
    job.granularity = {kCollectives * static_cast<uint64_t>(size), 1.3e-3, 1.2e-3, 1.25e-3, 1.3e-3, 1.4e-3, 2e-3, kCollectives - 1, 2e-3, 1.4e-3};
    job.clocks = {job.hosts, true, 3e-6, 0.5, 1e-6};
    job.epochs = kCollectives;
    job.matched_messages = 2 * kCollectives * static_cast<uint64_t>(size);
    job.message_stride = 4;
    job.wait_s = all.wait_s;
    job.operation_s = all.operation_s;
    job.imbalance_s = kLate_s * (size - 1) / size;
}

} // namespace plumb::synthetic
