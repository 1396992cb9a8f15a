#include "replay/rank_time.h"

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

} // namespace

bool is_start_or_end(const model::MpiSite& site) {
    return site.call.starts_with("MPI_Init") || site.call.starts_with("MPI_Finalize") ||
           site.call.starts_with("MPI_Session_");
}

uint32_t main_mpi_thread(const model::Process& process) {
    std::vector<uint64_t> time(std::max<size_t>(1, process.threads.size()));
    for (const model::MpiSite& site : process.mpi->sites)
        if (site.thread < time.size())
            time[site.thread] += site.time_ns;
    return static_cast<uint32_t>(std::ranges::max_element(time) - time.begin());
}

RankTime rank_time(const model::Run& run, const model::Process& process) {
    RankTime time;
    time.thread = main_mpi_thread(process);
    for (const model::MpiSite& site : process.mpi->sites) {
        if (site.thread != time.thread || is_start_or_end(site))
            continue;
        const double site_s = static_cast<double>(site.time_ns) * 1e-9;
        time.mpi_s += site_s;
        if (site.kind & trace::kMpiCollectiveCall)
            time.collective_s += site_s;
        if (site.kind & (trace::kMpiSend | trace::kMpiReceive | trace::kMpiWait | trace::kMpiPoll | trace::kMpiProbe))
            time.message_s += site_s;
    }
    time.elapsed_s = std::max(elapsed_s(run, process), time.mpi_s);
    return time;
}

} // namespace plumb::replay
