// The program's signals while SIGBUS and SIGTRAP are owned, without any alignment trap: the owner gives everything on.
#include "fake_trace.h"
#include "platform/os/shadow_stack.h"
#include "platform/os/system_call.h"
#include "record/signals/program_signals.h"

#include <catch2/catch.hpp>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace plumb::shim;

namespace {

struct Seen {
    int calls, number, code;
    bool blocked_inside, really_blocked_inside, on_alternate_stack;
} seen;
char alternate_stack[64 * 1024];

bool is_blocked(int number) {
    sigset_t mask;
    program_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, number) == 1;
}

bool is_really_blocked(int number) {
    uint64_t mask = 0;
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, word(&mask), sizeof mask);
    return (mask >> (number - 1) & 1) != 0;
}

void note(int number, siginfo_t* info, void*) {
    char here;
    seen.calls += 1;
    seen.number = number;
    seen.code = info->si_code;
    seen.blocked_inside = is_blocked(SIGBUS);
    seen.really_blocked_inside = is_really_blocked(SIGBUS);
    seen.on_alternate_stack = &here >= alternate_stack && &here < alternate_stack + sizeof alternate_stack;
}

void own(int number, siginfo_t* info, void* context) { deliver_to_program(number, info, context); }

void change_mask(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    REQUIRE(program_sigmask(how, &set, nullptr) == 0);
}

struct sigaction install(int number, int flags, bool fills_mask = false) {
    struct sigaction action = {}, former = {};
    action.sa_sigaction = note;
    action.sa_flags = flags | SA_SIGINFO;
    if (fills_mask)
        sigfillset(&action.sa_mask);
    REQUIRE(program_sigaction(number, &action, &former) == 0);
    return former;
}

struct Owned {
    Owned() {
        for (const int number : {SIGBUS, SIGTRAP})
            signal(number, SIG_DFL); // a sanitizer may have a handler of its own
        start_program_signals({sigaction, pthread_sigmask});
        REQUIRE(own_signal(SIGBUS, own) == 0);
        REQUIRE(own_signal(SIGTRAP, own) == 0);
        seen = {};
    }
    ~Owned() {
        for (const int number : {SIGBUS, SIGTRAP, SIGUSR1, SIGSEGV}) {
            struct sigaction action = {};
            action.sa_handler = SIG_DFL;
            program_sigaction(number, &action, nullptr);
        }
        disown_signal(SIGBUS);
        disown_signal(SIGTRAP);
    }
};

} // namespace

TEST_CASE("a handler of an owned signal is called as the kernel would") {
    const Owned owned;
    CHECK(install(SIGBUS, 0).sa_handler == SIG_DFL);
    raise(SIGBUS);
    CHECK(seen.calls == 1);
    CHECK(seen.number == SIGBUS);
    CHECK(seen.code == SI_TKILL);
    CHECK(seen.blocked_inside);
    CHECK_FALSE(seen.really_blocked_inside);
    CHECK_FALSE(is_blocked(SIGBUS));
    CHECK(install(SIGBUS, SA_NODEFER).sa_sigaction == note);
    raise(SIGBUS);
    CHECK(seen.calls == 2);
    CHECK_FALSE(seen.blocked_inside);
}

TEST_CASE("an owned signal that the program blocks waits until it is unblocked") {
    const Owned owned;
    install(SIGTRAP, 0);
    change_mask(SIG_BLOCK, SIGTRAP);
    CHECK(is_blocked(SIGTRAP));
    CHECK_FALSE(is_really_blocked(SIGTRAP));
    raise(SIGTRAP);
    raise(SIGTRAP);
    CHECK(seen.calls == 0);
    CHECK(waiting_signals() == uint64_t{1} << (SIGTRAP - 1));
    change_mask(SIG_UNBLOCK, SIGTRAP);
    CHECK(seen.calls == 1);
    CHECK(waiting_signals() == 0);
}

TEST_CASE("handlers of other signals block owned ones as their masks say") {
    const Owned owned;
    install(SIGUSR1, 0, true);
    raise(SIGUSR1);
    CHECK(seen.calls == 1);
    CHECK(seen.blocked_inside);
    CHECK_FALSE(seen.really_blocked_inside);
    CHECK_FALSE(is_blocked(SIGBUS));
    const struct sigaction former = install(SIGUSR1, SA_RESTART);
    CHECK(former.sa_sigaction == note);
    CHECK(sigismember(&former.sa_mask, SIGBUS) == 1);
    raise(SIGUSR1);
    CHECK(seen.calls == 2);
    CHECK_FALSE(seen.blocked_inside);
}

TEST_CASE("what arrives in a handler that blocks it comes behind the handler") {
    const Owned owned;
    install(SIGBUS, 0);
    struct sigaction action = {};
    action.sa_handler = [](int) {
        raise(SIGBUS);
        CHECK(seen.calls == 0);
    };
    sigfillset(&action.sa_mask);
    REQUIRE(program_sigaction(SIGUSR1, &action, nullptr) == 0);
    raise(SIGUSR1);
    CHECK(seen.calls == 1);
}

TEST_CASE("an owned signal's handler runs on the alternate stack where it asks for it") {
    const Owned owned;
    stack_t stack = {}, former = {};
    stack.ss_sp = alternate_stack;
    stack.ss_size = sizeof alternate_stack;
    REQUIRE(sigaltstack(&stack, &former) == 0);
    install(SIGBUS, SA_ONSTACK);
    raise(SIGBUS);
    CHECK(seen.on_alternate_stack);
    install(SIGBUS, 0);
    raise(SIGBUS);
    CHECK_FALSE(seen.on_alternate_stack);
    CHECK(seen.calls == 2);
    sigaltstack(&former, nullptr);
}

TEST_CASE("SA_RESETHAND and SIG_IGN of owned signals") {
    const Owned owned;
    install(SIGBUS, static_cast<int>(SA_RESETHAND));
    raise(SIGBUS);
    CHECK(seen.calls == 1);
    struct sigaction action = {}, former = {};
    action.sa_handler = SIG_IGN;
    REQUIRE(program_sigaction(SIGBUS, &action, &former) == 0);
    CHECK(former.sa_handler == SIG_DFL);
    raise(SIGBUS);
    CHECK(seen.calls == 1);
}

TEST_CASE("a waiting call sees and changes the mask that the program means") {
    const Owned owned;
    install(SIGBUS, 0);
    change_mask(SIG_BLOCK, SIGBUS);
    raise(SIGBUS);
    CHECK(seen.calls == 0);
    sigset_t none;
    sigemptyset(&none);
    {
        const WaitMask wait(&none);
        CHECK(sigsuspend(wait.get()) == -1); // for ever, were the signal lost or early
    }
    CHECK(seen.calls == 1);
    CHECK(is_blocked(SIGBUS));
    CHECK_FALSE(is_really_blocked(SIGBUS));
    change_mask(SIG_UNBLOCK, SIGBUS);
}

TEST_CASE("the default action ends the process with the signal's status") {
    for (const int number : {SIGBUS, SIGTRAP, SIGSEGV}) {
        for (const bool blocked : {false, true}) {
            const pid_t child = fork();
            if (child == 0) {
                // Not Catch's own handlers.
                for (const int other : {SIGBUS, SIGTRAP, SIGSEGV})
                    signal(other, SIG_DFL);
                start_program_signals({sigaction, pthread_sigmask});
                own_signal(SIGBUS, own);
                own_signal(SIGTRAP, own);
                if (blocked) {
                    sigset_t set;
                    sigfillset(&set);
                    program_sigmask(SIG_BLOCK, &set, nullptr);
                    raise(number);
                    program_sigmask(SIG_UNBLOCK, &set, nullptr);
                } else {
                    raise(number);
                }
                _exit(1);
            }
            int status = 0;
            REQUIRE(waitpid(child, &status, 0) == child);
            CHECK(WIFSIGNALED(status));
            CHECK(WTERMSIG(status) == number);
        }
    }
}

TEST_CASE("no signal is owned where shadow stacks are on") {
    const auto real_status = shadow_stack_status;
    shadow_stack_status = [](uint64_t* features) -> long {
        *features = 1;
        return 0;
    };
    const int error = own_signal(SIGBUS, [](int, siginfo_t*, void*) {});
    shadow_stack_status = real_status;
    CHECK(error == -ENOTSUP);
    CHECK_FALSE(owns_signals());
    shadow_stack_status = [](uint64_t*) -> long { return -EINVAL; }; // an older kernel
    CHECK_FALSE(shadow_stack_is_on());
    shadow_stack_status = real_status;
}
