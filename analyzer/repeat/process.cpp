#include "repeat/process.h"

#include "support/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::repeat {

namespace {

constexpr std::array<int, 4> kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::atomic<int> first_signal{0};
std::atomic<pid_t> child{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free); // the handler uses them

// The child has a process group of its own, which gets each signal once: a terminal sends it to plumb's group only.
extern "C" void pass_on(int signal) {
    int none = 0;
    first_signal.compare_exchange_strong(none, signal);
    if (const pid_t pid = child.load(); pid > 0)
        kill(-pid, signal);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

// plumb's own, with these instead of what it has under their names.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
    std::vector<std::string> environment = settings;
    for (char** one = environ; *one; ++one) {
        const std::string_view variable = *one;
        const std::string_view name = variable.substr(0, variable.find('=') + 1);
        if (std::ranges::none_of(settings, [&](const std::string& setting) { return setting.starts_with(name); }))
            environment.emplace_back(variable);
    }
    return environment;
}

class Actions {
  public:
    Actions() {
        posix_spawn_file_actions_init(&files_);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    ~Actions() {
        posix_spawnattr_destroy(&attributes_);
        posix_spawn_file_actions_destroy(&files_);
    }
    void open(int fd, const std::string& path, int flags) {
        posix_spawn_file_actions_addopen(&files_, fd, path.c_str(), flags, 0666);
    }
    int spawn(pid_t& pid, const std::string& program, std::vector<std::string>& words,
              std::vector<std::string>& environment) const {
        return posix_spawnp(&pid, program.c_str(), &files_, &attributes_, pointers_to(words).data(),
                            pointers_to(environment).data());
    }

  private:
    posix_spawn_file_actions_t files_;
    posix_spawnattr_t attributes_;
};

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

uint64_t largest_bytes(const rusage& usage) {
    return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

uint64_t own_largest_bytes() {
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    return largest_bytes(own);
}

void fill(ProcessResult& result, int status, const rusage& usage) {
    result.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    if (const uint64_t bytes = largest_bytes(usage); bytes > own_largest_bytes())
        result.resident_bytes = bytes;
}

} // namespace

ProcessResult run_process(const ProcessStart& start) {
    using Clock = std::chrono::steady_clock;
    Actions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.open(STDOUT_FILENO, start.output, O_WRONLY | O_CREAT | O_TRUNC);
    actions.open(STDERR_FILENO, start.errors, O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<std::string> words = start.words, environment = environment_with(start.environment);
    const std::string& program = start.path.empty() ? words.front() : start.path;
    pid_t pid = 0;
    const auto begin = Clock::now();
    if (const int failure = actions.spawn(pid, program, words, environment))
        throw Error(
            fmt::format("cannot start {} with its output in {}: {}", words.front(), start.output, std::strerror(failure)),
            failure == ENOENT                         ? 127
            : failure == EACCES || failure == ENOEXEC ? 126
                                                      : Error::kToolFailed);
    child = pid;
    if (const int signal = first_signal) // it came before there was a child
        kill(-pid, signal);
    int status = 0;
    rusage usage{};
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            throw Error(fmt::format("cannot wait for {}: {}", start.words.front(), std::strerror(errno)));
    ProcessResult result;
    result.wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
    child = 0;
    fill(result, status, usage);
    return result;
}

void keep_signals_from_ending_plumb() {
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    for (const int signal : kSignals)
        if (struct sigaction before {}; sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) // as nohup does
            sigaction(signal, &action, nullptr);
}

int caught_signal() {
    return first_signal;
}

} // namespace plumb::repeat
