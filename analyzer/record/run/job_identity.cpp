#include "record/run/job_identity.h"

#include "placement/launcher_ranks.h"
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

// Hydra names no job. All ranks of a node descend from one proxy, and the proxies of all nodes know where their one
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
    const auto rank = placement::launched_rank([](const char* name) -> const char* { return getenv(name); }, proc_root);
    if (!rank)
        return job;
    std::string id = rank->job;
    if (id.empty())
        id = hydra_job(proc_root).value_or(host_name() + "-" + std::to_string(getppid()));
    std::ranges::replace_if(id, [](unsigned char c) { return !isalnum(c) && !strchr("._-", c); }, '_');
    job.launcher = rank->launcher;
    job.id = rank->launcher + "-" + id;
    job.rank = rank->rank;
    job.rank_count = rank->count;
    job.local_count = rank->local_count;
    return job;
}

} // namespace plumb::record
