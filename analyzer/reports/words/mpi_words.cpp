#include "reports/words/mpi_words.h"
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kWorthSaying = 0.005;

} // namespace

std::string start_and_end_sentence(const MpiSummary& summary) {
    std::map<std::string, std::pair<double, uint32_t>> calls; // rank-seconds, and of how many ranks
    double all_s = 0;
    for (const MpiSiteLine& line : summary.sites)
        if (line.starts_or_ends) {
            auto& [seconds, ranks] = calls[line.site->call];
            seconds += line.site->time_s;
            ranks = std::max(ranks, line.site->ranks);
            all_s += line.site->time_s;
        }
    if (fraction_of_job(*summary.job, all_s) < kWorthSaying)
        return "";
    std::string list;
    for (const char* prefix : {"MPI_Init", "MPI_Session_init", "MPI_Session_finalize", "MPI_Finalize"}) // as they happen
        for (const auto& [call, sum] : calls)
            if (call.starts_with(prefix) && sum.second > 0)
                list += fmt::format("{}{} {}", list.empty() ? "" : ", ", call, format_seconds(sum.first / sum.second));
    return list.empty() ? "" : "Not in these figures, mean of the ranks: " + list + ".";
}

std::vector<std::vector<const model::SourceFrame*>> telling_callers(const std::vector<const MpiSiteLine*>& lines) {
    std::map<std::string, std::vector<size_t>> alike;
    for (size_t i = 0; i < lines.size(); ++i)
        alike[lines[i]->site->call + '\n' + frame_text(lines[i]->frame)].push_back(i);
    std::vector<std::vector<const model::SourceFrame*>> told(lines.size());
    for (const auto& [text, group] : alike) {
        std::map<std::string, size_t> names; // how many lines would be named by this caller
        for (const size_t i : group) {
            // Outwards as long as that leaves fewer lines with the same callers so far.
            std::vector<size_t> same = group;
            const std::vector<model::SourceFrame>& callers = lines[i]->callers;
            size_t telling = callers.size();
            for (size_t depth = 0; depth < callers.size() && same.size() > 1; ++depth) {
                const size_t before = same.size();
                std::erase_if(same, [&](size_t other) {
                    return depth >= lines[other]->callers.size() ||
                           frame_text(lines[other]->callers[depth]) != frame_text(callers[depth]);
                });
                if (same.size() < before)
                    telling = depth;
            }
            for (size_t depth = 0; telling < callers.size() && depth <= telling; ++depth)
                told[i].push_back(&callers[depth]);
            if (!told[i].empty())
                ++names[frame_text(*told[i].back())];
        }
        for (const size_t i : group)
            if (!told[i].empty() && names[frame_text(*told[i].back())] == 1)
                told[i].erase(told[i].begin(), std::prev(told[i].end())); // it suffices alone
    }
    return told;
}

std::string mpi_heading(const MpiSummary& summary) {
    const model::MpiJob& job = *summary.job;
    std::string text = fmt::format("MPI: {}", counted(static_cast<uint64_t>(std::max(0, job.size)), "rank", "ranks"));
    if (job.hosts > 1)
        text += fmt::format(" on {}", counted(job.hosts, "host", "hosts"));
    text += ", " + summary.library;
    if (job.spawned)
        text += ", spawned";
    return text;
}

std::string mpi_time_sentence(const MpiSummary& summary) {
    const model::MpiJob& job = *summary.job;
    std::string text = fmt::format("Ranks spent {} of their time in MPI", format_fraction(summary.mpi_fraction));
    if (summary.least_rank != summary.most_rank)
        text += fmt::format(" (least {}: rank {}; most {}: rank {})", format_fraction(summary.least_fraction),
                            summary.least_rank, format_fraction(summary.most_fraction), summary.most_rank);
    double other_s = 0;
    for (const model::MpiRankRow& row : job.ranks)
        other_s += row.other_mpi_s;
    const std::pair<double, const char*> parts[] = {
        {job.wait_s, "waiting for others in collectives"}, {job.operation_s, "collective operations themselves"},
        {job.late_sender_s, "late senders"},               {job.late_receiver_s, "late receivers"},
        {other_s, "transfer and the rest"},
    };
    std::string list;
    for (const auto& [seconds, what] : parts)
        if (const double share = fraction_of_job(job, seconds); share >= kWorthSaying)
            list += fmt::format("{}{} {}", list.empty() ? "" : ", ", format_fraction(share), what);
    return list.empty() ? text + "." : text + ": " + list + ".";
}

std::vector<std::string> mpi_limits(const MpiSummary& summary) {
    const model::MpiJob& job = *summary.job;
    std::vector<std::string> limits;
    if (const size_t recorded = job.ranks.size(); recorded < static_cast<size_t>(std::max(0, job.size)))
        limits.push_back(fmt::format("{} of {} ranks were recorded. The time of the others is not in these figures.",
                                     format_count(static_cast<double>(recorded)), format_count(job.size)));
    if (job.epoch_stride > 1)
        limits.push_back(fmt::format("Waiting in collectives is estimated from one in {} of them.", job.epoch_stride));
    if (job.message_stride > 1)
        limits.push_back(fmt::format("Late senders and receivers are estimated from one in {} messages.", job.message_stride));
    if (job.incomplete_epochs > 0)
        limits.push_back(fmt::format("{} skipped, because a recorded member was missing in them.",
                                     counted(job.incomplete_epochs, "collective was", "collectives were")));
    if (!job.clocks.aligned)
        limits.push_back("The clocks of some hosts could not be aligned: waiting between their ranks is not known.");
    else if (job.clocks.hosts > 1 && job.clocks.error_s > 0)
        limits.push_back(fmt::format("Clocks of the hosts were aligned to {}.", format_seconds(job.clocks.error_s)));
    return limits;
}

std::string awaited_sentence(const MpiSummary& summary, const model::MpiRankRow& row, const model::Run& run) {
    const model::MpiJob& job = *summary.job;
    const std::string host = job.hosts > 1 && row.host < run.hosts.size() ? " on " + run.hosts[row.host].name : "";
    std::string text = fmt::format("Rank {}{} came last to {} of {}: the others waited {} of their time for it", row.rank, host,
                                   format_count(static_cast<double>(row.times_last)),
                                   counted(row.collectives, "collective", "collectives"),
                                   format_fraction(fraction_of_job(job, row.caused_wait_s)));
    if (const std::string why = lateness_words(row); !why.empty())
        text += ", mostly because " + why;
    return text + ".";
}

std::string mean_size_text(const model::MpiCallSite& site) {
    const double bytes = mean_bytes(site);
    return bytes > 0 ? format_bytes(bytes) : "";
}

std::string waiting_text(const model::MpiCallSite& site) {
    if (site.time_s <= 0 || (site.wait_s <= 0 && site.operation_s <= 0))
        return "";
    return format_fraction(std::clamp(site.wait_s / site.time_s, 0.0, 1.0));
}

} // namespace plumb
