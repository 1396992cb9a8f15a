#include "analysis/mpi_summary.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace plumb {

namespace {

constexpr size_t kMostAwaited = 6, kMostCallers = 32;
// A rank is named among those that others waited for when it caused this part of the waiting, and waiting in collectives
// took this part of the job.
constexpr double kLeastPart = 0.05, kLeastWaiting = 0.01;

// The version as the library words it says its name again, and much more: "Open MPI v4.1.4, package: ...".
std::string version_number(const std::string& text) {
    for (size_t at = 0; at < text.size(); ++at) {
        if (!std::isdigit(static_cast<unsigned char>(text[at])))
            continue;
        size_t end = at;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.'))
            ++end;
        const std::string word = text.substr(at, end - at);
        if (word.find('.') != std::string::npos)
            return word;
        at = end;
    }
    return "";
}

std::string library_of(const model::MpiJob& job) {
    std::string name = mpi_library_name(job.library);
    if (name.empty())
        name = "MPI";
    const std::string version = version_number(job.library_version);
    return version.empty() ? name : name + " " + version;
}

void add_fractions(MpiSummary& summary) {
    double elapsed_s = 0, mpi_s = 0;
    for (const model::MpiRankRow& row : summary.job->ranks) {
        if (row.elapsed_s <= 0)
            continue;
        const double fraction = std::clamp(row.mpi_s / row.elapsed_s, 0.0, 1.0);
        if (summary.least_rank < 0 || fraction < summary.least_fraction) {
            summary.least_fraction = fraction;
            summary.least_rank = row.rank;
        }
        if (summary.most_rank < 0 || fraction > summary.most_fraction) {
            summary.most_fraction = fraction;
            summary.most_rank = row.rank;
        }
        elapsed_s += row.elapsed_s;
        mpi_s += row.mpi_s;
    }
    if (elapsed_s > 0)
        summary.mpi_fraction = std::clamp(mpi_s / elapsed_s, 0.0, 1.0);
}

void add_awaited(MpiSummary& summary) {
    const model::MpiJob& job = *summary.job;
    if (fraction_of_job(job, job.wait_s) < kLeastWaiting)
        return;
    for (const model::MpiRankRow& row : job.ranks)
        if (row.caused_wait_s >= kLeastPart * job.wait_s)
            summary.awaited.push_back(&row);
    std::ranges::stable_sort(summary.awaited, std::ranges::greater(), &model::MpiRankRow::caused_wait_s);
    if (summary.awaited.size() > kMostAwaited)
        summary.awaited.resize(kMostAwaited);
}

} // namespace

std::string mpi_library_name(model::MpiProcess::Library library) {
    using Library = model::MpiProcess::Library;
    switch (library) {
    case Library::open_mpi:
        return "Open MPI";
    case Library::mpich:
        return "MPICH";
    case Library::standard_abi:
        return "MPI (standard ABI)";
    case Library::unknown:
        break;
    }
    return "";
}

double fraction_of_job(const model::MpiJob& job, double rank_seconds) {
    double elapsed_s = 0;
    for (const model::MpiRankRow& row : job.ranks)
        elapsed_s += row.elapsed_s;
    return elapsed_s > 0 ? std::clamp(rank_seconds / elapsed_s, 0.0, 1.0) : 0;
}

double mean_bytes(const model::MpiCallSite& site) {
    double count = 0, least = 0, most = 0; // what had bytes in it, and between which sums its sizes lie
    for (size_t size = 1; size < site.sizes.size(); ++size) {
        const double messages = static_cast<double>(site.sizes[size]);
        count += messages;
        least += messages * std::exp2(size - 1);
        most += messages > 0 && size + 1 == site.sizes.size() ? std::numeric_limits<double>::infinity()
                                                              : messages * std::exp2(size);
    }
    if (count == 0)
        return 0;
    const double sent = static_cast<double>(site.sent_bytes), received = static_cast<double>(site.received_bytes);
    if (site.kind & trace::kMpiCollectiveCall && !(site.kind & (trace::kMpiFromRoot | trace::kMpiFile)))
        return sent / count; // what ranks contribute
    // Messages and accesses go one way each. So does a broadcast; but the root of a scatter both sends and receives in one
    // call, and collectives that MPI_Start begins are not distinguished from messages: the sizes show which sum is theirs.
    for (const double bytes : {sent + received, received, sent})
        if (bytes >= least && bytes < most)
            return bytes / count;
    return (sent + received) / count;
}

std::vector<const MpiSiteLine*> lines_within_job(const MpiSummary& summary, size_t most) {
    std::vector<const MpiSiteLine*> lines;
    for (const MpiSiteLine& line : summary.sites)
        if (!line.starts_or_ends && lines.size() < most)
            lines.push_back(&line);
    return lines;
}

std::string lateness_words(const model::MpiRankRow& row) {
    const model::MpiLateness& why = row.lateness;
    const std::pair<double, std::string> reasons[] = {
        {why.computing_s, "it had more to compute"},
        {why.irregular_s, "now and then it took longer outside MPI"},
        {why.starved_s, "it was ready to run and had no CPU"},
        {why.interrupted_s, "now and then another program took its CPU"},
        {why.blocked_s, "it slept or was blocked outside MPI"},
        {why.waiting_s, row.delayed_by >= 0 ? fmt::format("it waited for rank {} itself", row.delayed_by)
                                            : std::string("it waited for others itself")},
        {why.other_s, "it was in MPI calls, and which rank they waited for is not known"},
    };
    const auto* most = std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.first; });
    return most->first > 0 ? most->second : "";
}

std::vector<MpiSummary> summarise_mpi(model::CallPaths& paths, size_t most_sites) {
    std::vector<MpiSummary> summaries;
    for (const model::MpiJob& job : paths.run().mpi_jobs) {
        MpiSummary& summary = summaries.emplace_back();
        summary.job = &job;
        summary.library = library_of(job);
        add_fractions(summary);
        add_awaited(summary);
        if (job.cycles.count > 0)
            summary.cycle_frame = paths.user_frame(job.cycles.process, job.cycles.path);
        for (const model::MpiCallSite& site : job.sites)
            if (summary.sites.size() < most_sites)
                summary.sites.push_back({&site, paths.user_frame(site.process, site.path),
                                         paths.user_callers(site.process, site.path, kMostCallers), model::starts_or_ends_mpi(site.call)});
    }
    return summaries;
}

} // namespace plumb
