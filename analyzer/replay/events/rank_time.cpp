#include "replay/events/rank_time.h"

#include <plumb/trace_format.h>

#include <algorithm>

namespace plumb::replay {

namespace {

double elapsed_s(const model::Run& run, const model::Process& process) {
    const model::MpiProcess& mpi = *process.mpi;
    const uint64_t begin = mpi.init_end_ns ? mpi.init_end_ns : process.start_ns;
    uint64_t end = mpi.finalize_begin_ns ? mpi.finalize_begin_ns : process.end_ns;
    if (end <= begin)
        end = std::max(mpi.last_ns, run.end_ns);
    return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
}

// Sites count a call when it returns. One that never did took its thread from its beginning to the end of the record.
uint64_t pending_ns(const model::Process& process, const model::MpiInside& inside) {
    if (inside.begin_ns == 0 || model::starts_or_ends_mpi(inside.call))
        return 0;
    const model::MpiProcess& mpi = *process.mpi;
    const uint64_t begin = std::max(inside.begin_ns, mpi.init_end_ns);
    const uint64_t end = mpi.finalize_begin_ns ? mpi.finalize_begin_ns : process.end_ns;
    return end > begin ? end - begin : 0;
}

void add(RankTime& time, uint32_t kind, uint64_t in_mpi_ns) {
    const double in_mpi_s = static_cast<double>(in_mpi_ns) * 1e-9;
    time.mpi_s += in_mpi_s;
    if (kind & trace::kMpiCollectiveCall)
        time.collective_s += in_mpi_s;
    if (kind & (trace::kMpiSend | trace::kMpiReceive | trace::kMpiWait | trace::kMpiPoll | trace::kMpiProbe))
        time.message_s += in_mpi_s;
}

} // namespace

uint32_t main_mpi_thread(const model::Process& process) {
    std::vector<uint64_t> time(std::max<size_t>(1, process.threads.size()));
    for (const model::MpiSite& site : process.mpi->sites)
        if (site.thread < time.size())
            time[site.thread] += site.time_ns;
    for (const model::MpiInside& inside : process.mpi->inside)
        if (inside.thread < time.size())
            time[inside.thread] += pending_ns(process, inside);
    return static_cast<uint32_t>(std::ranges::max_element(time) - time.begin());
}

RankTime rank_time(const model::Run& run, const model::Process& process) {
    RankTime time;
    time.thread = main_mpi_thread(process);
    for (const model::MpiSite& site : process.mpi->sites)
        if (site.thread == time.thread && !model::starts_or_ends_mpi(site.call))
            add(time, site.kind, site.time_ns);
    for (const model::MpiInside& inside : process.mpi->inside)
        if (inside.thread == time.thread)
            add(time, inside.kind, pending_ns(process, inside));
    time.elapsed_s = std::max(elapsed_s(run, process), time.mpi_s);
    return time;
}

} // namespace plumb::replay
