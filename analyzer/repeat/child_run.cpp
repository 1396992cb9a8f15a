#include "repeat/child_run.h"

#include "support/error.h"
#include "trace/file/run_json.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::repeat {

namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

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
    int spawn(pid_t& pid, std::vector<std::string>& words, std::vector<std::string>& environment) const {
        return posix_spawn(&pid, "/proc/self/exe", &files_, &attributes_, pointers_to(words).data(), pointers_to(environment).data());
    }

  private:
    posix_spawn_file_actions_t files_;
    posix_spawnattr_t attributes_;
};

int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            throw Error(fmt::format("cannot wait for plumb run: {}", std::strerror(errno)));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_finished(const std::string& directory) {
    std::string problem;
    const std::optional<trace::RunFacts> facts = trace::read_run_json(directory + "/run.json", problem);
    return facts && facts->finished;
}

} // namespace

ChildResult record_child(const ChildRun& run) {
    std::vector<std::string> words{"plumb", "run", "--no-report", "-o", run.directory};
    words.insert(words.end(), run.options.begin(), run.options.end());
    words.emplace_back("--");
    words.insert(words.end(), run.command.begin(), run.command.end());
    Actions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.open(STDOUT_FILENO, run.output, O_WRONLY | O_CREAT | O_TRUNC);
    actions.open(STDERR_FILENO, run.errors, O_WRONLY | O_CREAT | O_TRUNC);
    pid_t pid = 0;
    std::vector<std::string> environment = environment_with(run.environment);
    if (const int failure = actions.spawn(pid, words, environment))
        throw Error(fmt::format("cannot start a recorded run with its output in {}: {}", run.output, std::strerror(failure)));
    child = pid;
    if (const int signal = first_signal) // it came before there was a child
        kill(-pid, signal);
    const int status = wait_for(pid);
    child = 0;
    return {status, is_finished(run.directory)};
}

void keep_signals_from_ending_plumb() {
    struct sigaction action {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    for (const int signal : kSignals)
        sigaction(signal, &action, nullptr);
}

int caught_signal() { return first_signal; }

} // namespace plumb::repeat
