#include "placement/pin_session.h"

#include "placement/launcher_ranks.h"
#include "placement/placement_table.h"
#include "platform/cpu_list.h"
#include "platform/cpuset.h"

#include <plumb/environment.h>
#include <plumb/launchers.h>
#include <plumb/plumb.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fmt/core.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumb::placement {

namespace {

const char* environment_value(const char* name) { return std::getenv(name); }

// A rank whose place on its node is known.
std::optional<LaunchedRank> launched_rank_here() {
    auto rank = launched_rank(environment_value);
    if (rank && rank->local_rank < 0)
        rank.reset();
    return rank;
}

bool is_mpi_launcher(const std::vector<std::string>& command) {
    if (command.empty())
        return false;
    const std::string& path = command.front();
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    for (const char* launcher : {"mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "mpiexec.openmpi",
                                 "mpirun.mpich", "mpiexec.mpich", "orterun", "prterun", "prun", "srun", "aprun",
                                 "jsrun", "palsrun", "mpirun_rsh", "mpiexec.mpd"})
        if (name == launcher)
            return true;
    return false;
}

std::vector<unsigned long> to_mask(const std::vector<int>& cpus) {
    constexpr size_t kBits = sizeof(unsigned long) * CHAR_BIT;
    std::vector<unsigned long> mask;
    for (int cpu : cpus) {
        const size_t word = static_cast<size_t>(cpu) / kBits;
        if (mask.size() <= word)
            mask.resize(word + 1);
        mask[word] |= 1ul << (static_cast<size_t>(cpu) % kBits);
    }
    return mask;
}

// Positions each process owns: what the user says, OMP_NUM_THREADS, or an equal share; 0: not known.
int positions_per_process(const PinOptions& options, const std::optional<LaunchedRank>& rank, size_t positions) {
    if (options.threads_per_process > 0)
        return options.threads_per_process;
    if (!rank)
        return 0;
    const int openmp = launchers::number(std::getenv("OMP_NUM_THREADS"));
    if (openmp > 0 && static_cast<size_t>(openmp) < positions)
        return openmp;
    return rank->local_count > 0 ? std::max(1, static_cast<int>(positions) / rank->local_count) : 1;
}

// What relative CPUs count over. In a rank the launcher may have bound us to this rank's part: the public library
// asks the launcher's daemon, so that `mpirun plumb pin` and `plumb pin mpirun` place alike.
std::vector<int> job_cpus(bool whole_cpuset) {
    if (whole_cpuset || !launched_rank_here())
        return platform::allowed_cpus("/", platform::affinity_mask(), whole_cpuset);
    std::vector<int> cpus;
    for (int n = 0; n < plumb_cpu_count(); ++n)
        cpus.push_back(plumb_cpu_number(n));
    return cpus;
}

} // namespace

PinSession::PinSession(const PinOptions& options, const std::string& directory)
    : options_(options), wish_(options.to_wish()),
      allowed_(job_cpus(options.whole_cpuset)),
      topology_(options.topology.empty() ? platform::live_topology()
                                         : platform::topology_from_file(options.topology)),
      plan_(plan_cpus(topology_, allowed_, wish_)) {
    const std::optional<LaunchedRank> rank = launched_rank_here();
    threads_per_process_ = positions_per_process(options_, rank, plan_.first_pass);
    std::vector<int> block = plan_.cpus;
    block.resize(plan_.first_pass);
    if (rank || threads_per_process_ > 0) {
        rank_block_ = rank ? rank->local_rank : -1;
        const size_t first = static_cast<size_t>(std::max(0, rank_block_)) * static_cast<size_t>(threads_per_process_);
        block.clear();
        for (size_t i = 0; i < static_cast<size_t>(threads_per_process_) && i < plan_.cpus.size(); ++i)
            block.push_back(plan_.cpus[(first + i) % plan_.cpus.size()]);
    }
    block_mask_ = to_mask(block);
    group_ = std::make_unique<PinGroup>(directory);
}

std::vector<std::pair<std::string, std::string>>
PinSession::environment(const std::vector<std::string>& command) const {
    namespace env = plumb::environment;
    std::vector<std::pair<std::string, std::string>> pairs;
    pairs.emplace_back(env::kPinList, platform::format_cpu_list(plan_.cpus));
    pairs.emplace_back(env::kAllowedCpus, platform::format_cpu_list(allowed_));
    pairs.emplace_back(env::kPinGroup, group_->path());
    if (options_.memory_binding() != MemoryBinding::none)
        pairs.emplace_back(env::kPinMemory, options_.memory_binding() == MemoryBinding::strict ? "strict" : "prefer");
    if (!options_.skip.empty())
        pairs.emplace_back(env::kPinSkip, fmt::format("{}", fmt::join(options_.skip, ":")));
    if (threads_per_process_ > 0)
        pairs.emplace_back(env::kPinStride, std::to_string(threads_per_process_));
    if (!std::getenv("OMP_NUM_THREADS") && !is_mpi_launcher(command))
        pairs.emplace_back("OMP_NUM_THREADS", std::to_string(threads_per_process_ > 0
                                                                 ? static_cast<size_t>(threads_per_process_)
                                                                 : plan_.first_pass));
    return pairs;
}

int PinSession::confine(pid_t pid) const {
    const size_t bytes = block_mask_.size() * sizeof(unsigned long);
    return syscall(SYS_sched_setaffinity, pid, bytes, block_mask_.data()) == 0 ? 0 : errno;
}

std::string PinSession::planned_table() const {
    return format_plan(plan_, topology_, allowed_, wish_, threads_per_process_, rank_block_);
}

std::string PinSession::applied_table() const { return format_applied(plan_, topology_, *group_); }

} // namespace plumb::placement
