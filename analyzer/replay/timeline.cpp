#include "replay/timeline.h"

#include "replay/events/host_clocks.h"
#include "replay/events/rank_work.h"

#include <algorithm>

namespace plumb::replay {

void visit_timelines(const model::Run& run, const ReplayOptions& options,
                     const std::function<void(const RankTimeline&)>& visit) {
    const OpenTrace open = options.open ? options.open : [](const std::string& name) { return trace::TraceReader(name); };
    std::vector<Job> jobs = find_jobs(run);
    for (size_t number = 0; number < jobs.size(); ++number) {
        Job& job = jobs[number];
        set_clocks(run, job);
        std::vector<HostShift> shifts;
        align_hosts(run, job, open, RankWork(job, options.threads, nullptr), shifts);
        for (const Rank& rank : job.ranks) {
            RankTimeline timeline{number, rank.process, {}};
            RankEvents(run, rank).visit(open, [&](const TimelineCall& call) { timeline.calls.push_back(call); });
            std::ranges::sort(timeline.calls, {}, [](const TimelineCall& call) { return std::pair(call.begin, call.end); });
            if (!timeline.calls.empty())
                visit(timeline);
        }
    }
}

} // namespace plumb::replay
