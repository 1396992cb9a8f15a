#include "commands/kernel_journal.h"

#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb {

namespace {

constexpr uint64_t kJournalSecond_ns = 1'000'000'000;

void check_host(const model::Run& run) {
    char here[256] = {};
    gethostname(here, sizeof here - 1);
    const std::string name = run.hosts.empty() ? std::string() : run.hosts.front().name;
    if (std::ranges::none_of(run.hosts, [&](const model::Host& host) { return host.name == here; }))
        throw Error(
            fmt::format("--kernel-log journal: the run was on {}, and this is {}; write the journal to a file there (journalctl "
                        "_TRANSPORT=kernel) and name the file",
                        name.empty() ? "an unknown host" : name, here));
}

} // namespace

KernelJournal::KernelJournal(const model::Run& run) {
    check_host(run);
    if (run.start_unix_ns == 0)
        throw Error("--kernel-log journal: when the run began was not recorded");
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    const std::string since = fmt::format("--since=@{}", run.start_unix_ns / kJournalSecond_ns);
    const std::string until = fmt::format("--until=@{}", (run.start_unix_ns + run.wall_ns() + kJournalSecond_ns - 1) / kJournalSecond_ns);
    const char* const words[] = {"journalctl",  "--no-pager",  "--quiet",           "--output=short-iso",
                                 since.c_str(), until.c_str(), "_TRANSPORT=kernel", nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    const int error = posix_spawnp(&pid_, words[0], &files, nullptr, const_cast<char* const*>(words), environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    pipe_ = ends[0];
    if (error != 0) {
        close(pipe_);
        pid_ = -1;
        throw Error(fmt::format("cannot start journalctl: {}", std::strerror(error)));
    }
}

KernelJournal::~KernelJournal() {
    close(pipe_);
    if (pid_ > 0)
        waitpid(pid_, nullptr, 0);
}

void KernelJournal::end() {
    int status = 0;
    const bool known = waitpid(pid_, &status, 0) == pid_;
    pid_ = -1;
    if (!known || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw Error(fmt::format("journalctl ended with status {}: what it says stands above",
                                WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

} // namespace plumb
