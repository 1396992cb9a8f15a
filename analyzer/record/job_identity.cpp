#include "record/job_identity.h"

#include "platform/task_stat.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace plumb::record {

namespace {

std::string variable(const char* name) {
    const char* value = getenv(name);
    return value ? value : "";
}

int number(const std::string& text) { return text.empty() ? -1 : std::atoi(text.c_str()); }

std::vector<std::string> arguments_of(const std::string& proc_root, uint32_t pid) {
    std::vector<std::string> arguments;
    const std::string line = platform::read_command_line(proc_root, pid);
    for (size_t begin = 0; begin < line.size();) {
        const size_t end = std::min(line.find('\0', begin), line.size());
        arguments.push_back(line.substr(begin, end - begin));
        begin = end + 1;
    }
    return arguments;
}

std::string after(const std::vector<std::string>& arguments, const char* option) {
    const auto found = std::ranges::find(arguments, option);
    return found != arguments.end() && found + 1 != arguments.end() ? found[1] : "";
}

// Hydra names no job. All ranks of a node descend from one proxy, and the proxies of all nodes are told where their one
// mpiexec listens; a group of spawned processes has proxies of its own.
std::optional<std::string> hydra_job(const std::string& proc_root) {
    constexpr int kMostAncestors = 64;
    auto pid = static_cast<uint32_t>(getppid());
    for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
        const auto process = platform::read_process_stat(proc_root, pid);
        if (!process)
            break;
        const std::vector<std::string> arguments = arguments_of(proc_root, pid);
        const std::string_view program = arguments.empty() ? std::string_view() : arguments[0];
        if (program.substr(program.rfind('/') + 1).starts_with("hydra_")) { // MPICH; Intel MPI's say it in two arguments
            std::string port = after(arguments, "--control-port");
            if (const std::string host = after(arguments, "--upstream-host"); port.empty() && !host.empty())
                port = host + ":" + after(arguments, "--upstream-port");
            const std::string group = after(arguments, "--pgid");
            if (port.empty())
                return host_name() + "-" + std::to_string(pid);
            return port + (number(group) > 0 ? "-" + group : "");
        }
        pid = process->parent_pid;
    }
    return {};
}

} // namespace

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

JobIdentity JobIdentity::from_environment(const std::string& proc_root) {
    JobIdentity job;
    const auto claim = [&](const char* launcher, const char* rank, const char* count, const auto& id_of) {
        if (!job.launcher.empty() || variable(rank).empty())
            return;
        job.launcher = launcher;
        job.rank = number(variable(rank));
        job.rank_count = number(variable(count));
        std::string id = id_of();
        std::ranges::replace_if(id, [](unsigned char c) { return !isalnum(c) && !strchr("._-", c); }, '_');
        job.id = std::string(launcher) + "-" + id;
    };
    std::string mpi_job = variable("PMIX_NAMESPACE");
    if (mpi_job.empty())
        mpi_job = variable("OMPI_MCA_ess_base_jobid");
    const std::string parent = std::to_string(getppid());
    claim("openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", [&] { return mpi_job.empty() ? parent : mpi_job; });
    claim("slurm", "SLURM_PROCID", "SLURM_NTASKS", [] { return variable("SLURM_JOB_ID") + "." + variable("SLURM_STEP_ID"); });
    claim("pmix", "PMIX_RANK", "PMIX_SIZE", [&] { return mpi_job; });
    claim("hydra", "PMI_RANK", "PMI_SIZE", [&] {
        const auto id = hydra_job(proc_root);
        return id ? *id : host_name() + "-" + parent;
    });
    return job;
}

} // namespace plumb::record
