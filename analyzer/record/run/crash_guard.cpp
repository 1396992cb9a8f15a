#include "record/run/crash_guard.h"

#include "record/run/signals.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXFSZ};
constexpr size_t kStackBytes = 64 * 1024;

enum class Stage : int { none, starting, program_runs, program_ended, report };

// All that the handler needs, in no memory that a crash may have freed.
struct State {
    std::atomic<Stage> stage{Stage::none};
    std::atomic<pid_t> crashed_thread{0};
    char** arguments = nullptr;
    const Inheritance* inheritance = nullptr;
    std::atomic<pid_t> child{0};
    std::atomic<int> gate{-1}, signal_fd{-1}, exit_status{0};
    char run_directory[PATH_MAX];
};
State state;

// A sentence put together without the help of any library.
class Sentence {
  public:
    Sentence& operator<<(const char* text) {
        while (*text && length_ < sizeof text_ - 1)
            text_[length_++] = *text++;
        return *this;
    }
    Sentence& operator<<(int number) {
        char digits[12];
        int at = sizeof digits - 1;
        digits[at] = 0;
        do
            digits[--at] = static_cast<char>('0' + number % 10);
        while ((number /= 10) > 0);
        return *this << &digits[at];
    }
    void print() {
        text_[length_++] = '\n';
        [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, length_);
    }

  private:
    char text_[PATH_MAX + 256];
    size_t length_ = 0;
};

[[noreturn]] void become_the_program() {
    if (const int gate = state.gate; gate >= 0)
        close(gate);
    if (const pid_t child = state.child; child > 0) // the program must not find an unknown child
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    state.inheritance->restore();
    execvp(state.arguments[0], state.arguments);
    _exit(errno == ENOENT ? 127 : 126);
}

[[noreturn]] void wait_for_the_program() {
    const pid_t child = state.child;
    while (true) {
        pollfd polled{state.signal_fd, POLLIN, 0};
        poll(&polled, 1, -1);
        forward_signals(polled.fd, child);
        int status = 0;
        pid_t ended = 0;
        while ((ended = waitpid(child, &status, WNOHANG | WUNTRACED)) > 0) {
            if (WIFSTOPPED(status))
                raise(SIGSTOP);
            else
                _exit(exit_status_of(status));
        }
        if (ended < 0 && errno == ECHILD)
            _exit(125);
    }
}

void die_of(int signal) {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    sigaction(signal, &by_default, nullptr);
    raise(signal);
}

void handle_crash(int signal, siginfo_t* info, void*) {
    if (signal == SIGXFSZ) // the call that exceeded the limit fails, and is dealt with
        return;
    const Stage stage = state.stage;
    if (info->si_code <= 0 && info->si_pid != getpid() && stage == Stage::program_runs) { // no crash: sent by somebody
        kill(state.child, signal);
        return;
    }
    if (stage == Stage::none || (info->si_code <= 0 && info->si_pid != getpid()))
        return die_of(signal);
    pid_t nobody = 0;
    if (!state.crashed_thread.compare_exchange_strong(nobody, gettid())) {
        if (nobody == gettid()) // there is nothing left that works
            _exit(125);
        while (true) // another thread does what is to be done
            pause();
    }
    Sentence sentence;
    sentence << "plumb: ";
    switch (stage) {
    case Stage::starting:
        (sentence << "the program runs unrecorded: plumb crashed with signal " << signal).print();
        become_the_program();
    case Stage::program_runs:
        (sentence << "the recorder crashed with signal " << signal << ": the rest of the program runs unrecorded").print();
        wait_for_the_program();
    case Stage::program_ended:
        (sentence << "the recorder crashed with signal " << signal << " after the program had ended: the recording is "
                                                                      "incomplete")
            .print();
        break;
    default:
        (sentence << "recorded into " << state.run_directory << ", but the report crashed with signal " << signal).print();
    }
    _exit(state.exit_status);
}

} // namespace

CrashGuard::CrashGuard(const std::vector<std::string>& command, const Inheritance& inheritance) {
    // Kept until the process ends: a crash may come at any time.
    state.arguments = new char*[command.size() + 1]{};
    for (size_t i = 0; i < command.size(); ++i)
        state.arguments[i] = strdup(command[i].c_str());
    state.inheritance = new Inheritance(inheritance);
    void* const memory =
        mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory != MAP_FAILED) { // a stack overflow has no other place left
        stack_t stack{};
        stack.ss_sp = memory;
        stack.ss_size = kStackBytes;
        sigaltstack(&stack, nullptr);
    }
    state.stage = Stage::starting;
    for (const int signal : kFatal) {
        struct sigaction former {}, handler {};
        handler.sa_sigaction = handle_crash;
        handler.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        if (sigaction(signal, nullptr, &former) == 0 && former.sa_handler == SIG_DFL)
            sigaction(signal, &handler, nullptr);
    }
}

CrashGuard::~CrashGuard() { state.stage = Stage::none; }

void CrashGuard::child_waits(pid_t child, int gate) {
    state.gate = gate;
    state.child = child;
}

void CrashGuard::child_ended() {
    state.gate = -1;
    state.child = 0;
}

void CrashGuard::program_runs(int signal_fd) {
    state.signal_fd = signal_fd;
    if (state.stage != Stage::none)
        state.stage = Stage::program_runs;
}

void CrashGuard::program_ended(int exit_status) {
    state.exit_status = exit_status;
    if (state.stage != Stage::none)
        state.stage = Stage::program_ended;
}

void CrashGuard::recording_ended(const std::string& run_directory) {
    strncpy(state.run_directory, run_directory.c_str(), sizeof state.run_directory - 1);
    if (state.stage != Stage::none)
        state.stage = Stage::report;
}

} // namespace plumb::record
