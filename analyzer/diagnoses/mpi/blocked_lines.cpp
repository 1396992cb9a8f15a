#include "diagnoses/mpi/blocked_lines.h"

#include "analyses/time/wait_class.h"

#include <algorithm>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr uint64_t kLeastLooks = 5; // that saw one wait; fewer say too little of where the time goes

struct Place {
    model::SourceFrame frame;
    std::string what;
    uint64_t looks = 0;
    std::map<uint32_t, double> late_s, others_s; // by row
};

double sum_of(const std::map<uint32_t, double>& times) {
    double sum = 0;
    for (const auto& [row, time_s] : times)
        sum += time_s;
    return sum;
}

// Of `count` ranks, those not in `times` with none.
double median_of(const std::map<uint32_t, double>& times, size_t count) {
    std::vector<double> values(count);
    std::ranges::transform(times, values.begin(), [](const auto& entry) { return entry.second; });
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return values.empty() ? 0 : *middle;
}

// Whether looks at this wait may be of the time between MPI_Init and MPI_Finalize.
bool may_lie_between(const model::MpiProcess& mpi, const model::BlockedSite& site) {
    const bool is_before = mpi.init_end_ns != 0 && site.last_ns != 0 && site.last_ns <= mpi.init_end_ns;
    const bool is_after = mpi.finalize_begin_ns != 0 && site.first_ns >= mpi.finalize_begin_ns;
    return !is_before && !is_after;
}

} // namespace

BlockedLines blocked_lines(model::CallPaths& paths, const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& late) {
    const std::set<const model::MpiRankRow*> late_rows(late.begin(), late.end());
    std::map<std::pair<model::SourceLine, std::string>, Place> places;
    for (uint32_t row = 0; row < job.ranks.size(); ++row) {
        const model::MpiRankRow& rank = job.ranks[row];
        const model::Process& process = paths.run().processes[rank.process];
        for (const model::BlockedSite& site : process.blocked) {
            if (site.thread != rank.thread || !may_lie_between(*process.mpi, site))
                continue;
            const WaitClass wait = wait_class_of(paths, rank.process, site);
            if (wait.kind == WaitKind::mpi)
                continue;
            const model::SourceFrame frame = paths.user_frame(rank.process, site.path);
            Place& place = places[{model::source_line(frame), wait.what}];
            place.frame = frame;
            place.what = wait.what;
            place.looks += site.looks;
            (late_rows.contains(&rank) ? place.late_s : place.others_s)[row] += static_cast<double>(site.time_ns) * 1e-9;
        }
    }
    BlockedLines blocked;
    double most_s = 0;
    for (const auto& [key, place] : places) {
        const double usual_s = median_of(place.others_s, job.ranks.size() - late.size());
        const double more_s = sum_of(place.late_s) - usual_s * static_cast<double>(late.size());
        if (place.looks < kLeastLooks || more_s <= 0)
            continue;
        blocked.lines.add(place.frame, more_s);
        blocked.seconds += more_s;
        if (more_s > most_s) {
            most_s = more_s;
            blocked.what = place.what;
        }
    }
    return blocked;
}

} // namespace plumb
