#include "diagnoses/mpi/mpi_metrics.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

struct Sums {
    double elapsed_s = 0, mpi_s = 0, compute_s = 0, most_compute_s = 0;
    double transfer_s = 0; // in MPI, but not waiting for another rank
};

Sums sums_of(const model::MpiJob& job) {
    Sums sums;
    for (const model::MpiRankRow& row : job.ranks) {
        sums.elapsed_s += row.elapsed_s;
        sums.mpi_s += row.mpi_s;
        sums.compute_s += row.compute_s;
        sums.most_compute_s = std::max(sums.most_compute_s, row.compute_s);
        sums.transfer_s += std::max(0.0, row.mpi_s - row.collective_wait_s - row.late_sender_s - row.late_receiver_s);
    }
    return sums;
}

} // namespace

const model::MpiJob* main_mpi_job(const model::Run& run) {
    const model::MpiJob* main = nullptr;
    double most_s = 0;
    for (const model::MpiJob& job : run.mpi_jobs) {
        double sum_s = 0;
        for (const model::MpiRankRow& row : job.ranks)
            sum_s += row.elapsed_s;
        if (job.ranks.size() >= 2 && sum_s > most_s) {
            main = &job;
            most_s = sum_s;
        }
    }
    return main;
}

std::vector<Metric> mpi_metrics_of(const model::MpiJob& job) {
    std::vector<Metric> metrics;
    const Sums sums = sums_of(job);
    const auto ranks = static_cast<double>(job.ranks.size());
    if (ranks < 2 || sums.compute_s <= 0 || job.elapsed_s <= 0 || sums.elapsed_s <= 0)
        return metrics;
    const auto add = [&](const char* name, double value, std::string how) {
        metrics.push_back({name, std::clamp(value, 0.0, 1.0), "fraction", std::move(how)});
    };
    const double mean_s = sums.compute_s / ranks;
    const double ideal_s = std::max(sums.most_compute_s, job.elapsed_s - sums.transfer_s / ranks);
    add("parallel efficiency", mean_s / job.elapsed_s,
        fmt::format("POP: mean time outside MPI of the {} ranks / elapsed time of the job, from MPI_Init to MPI_Finalize; load "
                    "balance x communication efficiency", job.ranks.size()));
    add("load balance", mean_s / sums.most_compute_s, "POP: mean / longest time outside MPI of the ranks");
    add("communication efficiency", sums.most_compute_s / job.elapsed_s,
        "POP: longest time outside MPI of a rank / elapsed time; serialisation x transfer efficiency");
    add("serialisation efficiency", sums.most_compute_s / ideal_s,
        "POP: longest time outside MPI of a rank / elapsed time on a network that moves data at once; the latter estimated as "
        "elapsed time less the mean rank's time in MPI without waiting for other ranks");
    add("transfer efficiency", ideal_s / job.elapsed_s,
        "POP: elapsed time on a network that moves data at once, estimated as above / elapsed time");
    add("MPI fraction", sums.mpi_s / sums.elapsed_s, "time inside MPI / elapsed time, all ranks");
    if (job.epochs)
        add("collective wait fraction", job.wait_s / sums.elapsed_s,
            "time in collectives waiting for other ranks to arrive / elapsed time, all ranks");
    if (job.matched_messages)
        add("late sender fraction", job.late_sender_s / sums.elapsed_s,
            "time in receives before the sender began to send / elapsed time, all ranks");
    if (job.matched_messages)
        add("late receiver fraction", job.late_receiver_s / sums.elapsed_s,
            "time in sends before the receiver began to receive / elapsed time, all ranks");
    const model::MpiGranularity& granularity = job.granularity;
    if (granularity.intervals)
        metrics.push_back({"compute interval", granularity.median_s, "seconds",
                           fmt::format("median time outside MPI between two collectives; 80 % lie between {} and {}",
                                       format_seconds(granularity.tenth_s), format_seconds(granularity.ninetieth_s))});
    if (granularity.cycles >= 2) {
        metrics.push_back({"mean cycle", granularity.mean_cycle_s, "seconds",
                           fmt::format("from one collective of the main call site to the next, {} cycles", granularity.cycles)});
        if (job.cycles.count >= 10)
            metrics.push_back({"tenth percentile of cycles", job.cycles.tenth_s, "seconds", "one in ten of these cycles is faster"});
        metrics.push_back({"least cycle", granularity.least_cycle_s, "seconds",
                           "the fastest of these cycles: all could be as fast if they do the same work without disturbance"});
    }
    return metrics;
}

} // namespace plumb
