// plumb pin: placement alone. Nothing is recorded; the program's output and exit status are its own.
#include "commands/command.h"
#include "commands/target_command.h"
#include "placement/pin_session.h"
#include "record/run/child.h"
#include "record/run/executable.h"
#include "record/run/signals.h"
#include "record/run/target_environment.h"
#include "reports/complain.h"
#include "reports/words/utf8.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/core.h>
#include <memory>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb {

namespace {

// Waits for the target, sends on what is sent to us, and stops and goes on with it. Returns its wait status.
int wait_for(record::SignalForwarder& signals, pid_t target) {
    int status = 0;
    while (true) {
        pollfd polled{signals.fd(), POLLIN, 0};
        if (poll(&polled, 1, -1) <= 0 || !signals.forward_to(target))
            continue;
        pid_t pid = 0;
        while ((pid = waitpid(target, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
            if (WIFSTOPPED(status))
                raise(SIGSTOP);
            else if (!WIFCONTINUED(status))
                return status;
        }
        if (pid < 0 && errno == ECHILD)
            return status;
    }
}

// How the shim gets in; empty map and a reason: it does not.
std::string preload(const record::Executable& program, record::Child::Environment& environment) {
    record::Options nothing;
    nothing.without = {"sample"};
    const record::TargetEnvironment target = record::target_environment(nothing, program, "", true);
    const auto found = target.variables.find("LD_PRELOAD");
    if (found != target.variables.end())
        environment["LD_PRELOAD"] = found->second;
    return target.why_no_shim;
}

// The program takes the place of plumb. Never returns.
int run_in_place(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const std::string& word : command)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words.front(), words.data());
    const record::ExecFailure failure = record::explain_exec_failure(command.front(), errno);
    throw Error(failure.text, failure.exit_status);
}

// Its children inherit it.
void refuse_huge_pages() {
    if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        throw Error(fmt::format("the kernel cannot be kept from using huge pages: PR_SET_THP_DISABLE failed: {}",
                                std::strerror(errno)));
}

int run_pinned(const placement::PinOptions& options, const std::vector<std::string>& command, bool quiet) {
    const record::Inheritance inheritance = record::Inheritance::now();
    const placement::PinSession session(options, "");
    const record::Executable program = record::find_executable(command.front());
    record::Child::Environment environment;
    for (const auto& [name, value] : session.environment(command))
        environment[name] = value;
    const std::string why_no_shim = preload(program, environment);
    const bool first = session.local_rank() <= 0; // one table for all ranks of a node
    if (!quiet && first)
        fmt::print(stderr, "{}", sanitised_lines(session.planned_table()));

    record::SignalForwarder signals;
    record::Child child(command, environment, environment, inheritance);
    if (!why_no_shim.empty()) {
        const int error = session.confine(child.pid());
        if (!quiet && error == 0)
            complain(fmt::format("threads cannot be pinned one by one: {}; the whole process is pinned to the CPUs of its "
                                 "positions instead", why_no_shim));
        else if (error != 0)
            complain(fmt::format("the program is not pinned: {}, and sched_setaffinity failed: {}",
                                 why_no_shim, std::strerror(error)));
    }
    if (const int error = child.release(record::Child::Choice::usual); error != 0) {
        const record::ExecFailure failure = record::explain_exec_failure(command.front(), error);
        throw Error(failure.text, failure.exit_status);
    }
    const int status = wait_for(signals, child.pid());
    if (!quiet && (first || session.group().table().failed > 0))
        fmt::print(stderr, "{}", sanitised_lines(session.applied_table()));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

CommandAction declare_pin(CLI::App& subcommand) {
    auto options = std::make_shared<placement::PinOptions>();
    auto quiet = std::make_shared<bool>(false);
    auto unpinned = std::make_shared<bool>(false), small_pages = std::make_shared<bool>(false);
    placement::declare_pin_options(subcommand, *options);
    subcommand.add_flag("-q,--quiet", *quiet, "Print no table");
    subcommand.add_flag("--unpinned", *unpinned, "Pin nothing: for the other options of the start");
    subcommand.add_flag("--no-huge-pages", *small_pages, "Keep the kernel from giving the program transparent huge pages");
    declare_target(subcommand);
    return [&subcommand, options, quiet, unpinned, small_pages] {
        const std::vector<std::string> command = target_of(subcommand);
        if (*small_pages)
            refuse_huge_pages();
        return *unpinned ? run_in_place(command) : run_pinned(*options, command, *quiet);
    };
}

} // namespace plumb
