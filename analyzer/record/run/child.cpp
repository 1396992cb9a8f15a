#include "record/run/child.h"

#include "record/run/crash_guard.h"
#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace plumb::record {

namespace {

std::vector<std::string> merged_environment(const Child::Environment& added) {
    std::vector<std::string> merged;
    for (char** entry = environ; *entry; ++entry) {
        const char* equals = std::strchr(*entry, '=');
        if (!equals || !added.contains(std::string(*entry, equals - *entry)))
            merged.emplace_back(*entry);
    }
    for (const auto& [name, value] : added)
        merged.push_back(name + "=" + value);
    return merged;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts)
        pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

Inheritance Inheritance::now() {
    Inheritance seen{};
    sigprocmask(SIG_SETMASK, nullptr, &seen.mask);
    sigaction(SIGCHLD, nullptr, &seen.child_signal);
    getrlimit(RLIMIT_NOFILE, &seen.files);
    getrlimit(RLIMIT_MEMLOCK, &seen.locked_memory);
    return seen;
}

void Inheritance::restore() const {
    sigaction(SIGCHLD, &child_signal, nullptr);
    setrlimit(RLIMIT_NOFILE, &files);
    setrlimit(RLIMIT_MEMLOCK, &locked_memory);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
}

Child::Child(const std::vector<std::string>& command, const Environment& usual, const Environment& other,
             const Inheritance& inheritance) {
    const std::vector<std::string> usual_variables = merged_environment(usual),
                                   other_variables = merged_environment(other);
    const std::vector<char*> arguments = pointers_to(command), usual_block = pointers_to(usual_variables),
                             other_block = pointers_to(other_variables);
    int gate[2], result[2];
    if (pipe2(gate, O_CLOEXEC) != 0)
        throw Error(std::string("cannot make a pipe: ") + strerror(errno));
    if (pipe2(result, O_CLOEXEC) != 0) {
        close(gate[0]);
        close(gate[1]);
        throw Error(std::string("cannot make a pipe: ") + strerror(errno));
    }
    pid_ = fork();
    if (pid_ == 0) {
        // Only what is safe after fork, and nothing that the program could notice later.
        close(gate[1]);
        char choice = 0;
        while (read(gate[0], &choice, 1) < 0 && errno == EINTR) {}
        if (choice == 0)
            _exit(125); // plumb gave up or was killed before the launch
        inheritance.restore();
        const bool is_usual = choice == static_cast<char>(Choice::usual);
        execvpe(arguments[0], arguments.data(), is_usual ? usual_block.data() : other_block.data());
        const int error = errno;
        [[maybe_unused]] const ssize_t reported = write(result[1], &error, sizeof error);
        _exit(127);
    }
    const int error = errno;
    close(gate[0]);
    close(result[1]);
    gate_ = gate[1];
    result_ = result[0];
    if (pid_ < 0) {
        close(gate_);
        close(result_);
        throw Error(std::string("cannot start a process: ") + strerror(error));
    }
    CrashGuard::child_waits(pid_, gate_);
}

Child::~Child() {
    if (result_ >= 0)
        close(result_);
    if (gate_ < 0)
        return;
    CrashGuard::child_ended();
    close(gate_); // it ends by itself, and nobody else must find it as a child
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

int Child::release(Choice choice) {
    while (write(gate_, &choice, 1) < 0 && errno == EINTR) {}
    close(gate_);
    gate_ = -1;
    int error = 0;
    ssize_t got = 0;
    while ((got = read(result_, &error, sizeof error)) < 0 && errno == EINTR) {}
    close(result_);
    result_ = -1;
    if (got != sizeof error)
        return 0;
    CrashGuard::child_ended();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    return error;
}

} // namespace plumb::record
