// The program's signal dispositions: the table, and what sigaction() does while signals are owned.
#include "platform/code/alignment_flag.h"
#include "platform/os/futex_lock.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/memory.h"
#include "platform/os/shadow_stack.h"
#include "platform/os/signal_action.h"
#include "platform/os/system_call.h"
#include "record/process/process.h"
#include "record/signals/program_signal_state.h"

#include <errno.h>
#include <string.h>

namespace plumb::shim {

SignalEntry signal_table[kSignals + 1];
constinit std::atomic<uint64_t> open_signals{0};
constinit std::atomic<uint64_t> owned_signals{0};
RealSignalFunctions real_signal_functions;

namespace {

struct Shared { // lies in a page that a forked child finds zeroed, and a child of vfork does not
    std::atomic<uint32_t> pid;
    FutexLock lock;
};
constexpr size_t kPageBytes = 64 * 1024; // the largest page in use
Shared* shared = nullptr; // from the first owned or open signal on, which is before there is a second thread

bool share() {
    if (!shared && (shared = static_cast<Shared*>(allocate_pages(kPageBytes, true))))
        shared->pid.store(process_id(), std::memory_order_relaxed);
    return shared != nullptr;
}
std::atomic<int> kept_open_number{0};

#if defined(__x86_64__)
constexpr unsigned long kRestorerFlag = 0x04000000; // SA_RESTORER: the C library sets it with every action

// Handlers of this thread may not run meanwhile: they could want the table too. With all signals blocked nothing may
// trap either.
class LockedTable {
  public:
    LockedTable() {
        const uint64_t all = ~uint64_t{0};
        system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&all), word(&mask_before_), sizeof all);
        shared->lock.take();
    }
    ~LockedTable() {
        shared->lock.release();
        system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&mask_before_), 0, sizeof mask_before_);
    }

  private:
    AlignmentTrapOff off_;
    uint64_t mask_before_ = 0;
};

// The C library refuses its own two, the kernel the two that cannot be caught.
bool is_anybodys(int number) {
    return number >= 1 && number <= kSignals && number != SIGKILL && number != SIGSTOP && number != 32 && number != 33;
}

bool is_owned(int number) { return (owned_signals.load(std::memory_order_relaxed) & signal_bit(number)) != 0; }

ProgramAction read_action(const struct sigaction& action) {
    return {reinterpret_cast<uint64_t>(action.sa_sigaction), static_cast<uint64_t>(static_cast<unsigned>(action.sa_flags)),
            first_word(action.sa_mask)};
}

void give_action(const ProgramAction& action, struct sigaction* into) {
    into->sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(action.handler);
    into->sa_flags = static_cast<int>(action.flags);
    memset(&into->sa_mask, 0, sizeof into->sa_mask);
    first_word(into->sa_mask) = action.mask;
}

bool is_wrapper(const ProgramAction& action) {
    return action.handler == reinterpret_cast<uint64_t>(plumb_enter_handler);
}

// What is really installed for `action` of a signal that is not owned.
struct sigaction wrapped_action(int number, const struct sigaction& action) {
    struct sigaction wrapped = action;
    first_word(wrapped.sa_mask) &= ~open_signals.load(std::memory_order_relaxed);
    const ProgramAction wanted = read_action(action);
    if (wanted.is_function() ||
        (wanted.handler == reinterpret_cast<uint64_t>(SIG_DFL) && dies_at_an_instruction(number))) {
        wrapped.sa_sigaction = plumb_enter_handler;
        wrapped.sa_flags |= SA_SIGINFO;
    }
    return wrapped;
}

// The kernel restarts system calls as the program's handler asks for; where there is none, as often as possible.
void install_owner(int number, const ProgramAction& program) {
    uint64_t mask = ~uint64_t{0};
    for (const int synchronous : {SIGBUS, SIGTRAP, SIGSEGV, SIGFPE, SIGILL})
        mask &= ~signal_bit(synchronous);
    const bool restarts = !program.is_function() || (program.flags & SA_RESTART);
    set_kernel_action(number, reinterpret_cast<uint64_t>(signal_table[number].owner.load(std::memory_order_relaxed)),
                      SA_SIGINFO | SA_NODEFER | (restarts ? SA_RESTART : 0u), mask);
}

void wrap_existing(int number) {
    struct sigaction action;
    if (number == kept_open_number.load(std::memory_order_relaxed) ||
        real_signal_functions.sigaction(number, nullptr, &action) != 0)
        return;
    const ProgramAction program = read_action(action);
    if (is_wrapper(program))
        return;
    const struct sigaction wrapped = wrapped_action(number, action);
    if (!is_wrapper(read_action(wrapped)))
        return;
    SignalEntry& entry = signal_table[number];
    entry.installed.write(program);
    entry.function.write(program);
    entry.wrapped.store(true, std::memory_order_relaxed);
    real_signal_functions.sigaction(number, &wrapped, nullptr);
}

void unwrap(int number) {
    SignalEntry& entry = signal_table[number];
    if (!entry.wrapped.exchange(false, std::memory_order_relaxed))
        return;
    struct sigaction action;
    if (real_signal_functions.sigaction(number, nullptr, &action) != 0 || !is_wrapper(read_action(action)))
        return;
    give_action(entry.installed.read(), &action);
    real_signal_functions.sigaction(number, &action, nullptr);
}

// What the kernel says of a wrapped signal, as the program knows it.
void show_program(const ProgramAction& installed, struct sigaction* former) {
    if (is_wrapper(read_action(*former)))
        former->sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(installed.handler);
    if (!(installed.flags & SA_SIGINFO))
        former->sa_flags &= ~SA_SIGINFO;
    first_word(former->sa_mask) |= installed.mask & open_signals.load(std::memory_order_relaxed);
}

int change_owned(int number, const struct sigaction* action, struct sigaction* former) {
    SignalEntry& entry = signal_table[number];
    const ProgramAction before = entry.installed.read();
    if (action) {
        ProgramAction program = read_action(*action);
        program.flags |= kRestorerFlag;
        program.mask &= ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
        entry.installed.write(program);
        if (program.is_function())
            entry.function.write(program);
        install_owner(number, program);
    }
    if (former)
        give_action(before, former);
    return 0;
}

int change_wrapped(int number, const struct sigaction* action, struct sigaction* former) {
    SignalEntry& entry = signal_table[number];
    const bool was_wrapped = entry.wrapped.load(std::memory_order_relaxed);
    const ProgramAction before = entry.installed.read();
    struct sigaction was;
    if (!action) {
        if (real_signal_functions.sigaction(number, nullptr, &was) != 0)
            return -1;
    } else {
        const ProgramAction program = read_action(*action);
        const struct sigaction wrapped = wrapped_action(number, *action);
        if (program.is_function())
            entry.function.write(program); // before it can be called
        if (real_signal_functions.sigaction(number, &wrapped, &was) != 0)
            return -1;
        entry.installed.write(program);
        entry.wrapped.store(is_wrapper(read_action(wrapped)), std::memory_order_relaxed);
    }
    if (was_wrapped)
        show_program(before, &was);
    if (former)
        *former = was;
    return 0;
}

// The child has dispositions of its own, but shares the table, which stays the parent's. What it installs is not
// wrapped; where it takes an owned signal, nothing traps in it any more.
int change_in_vfork_child(int number, const struct sigaction* action, struct sigaction* former) {
    if (action && is_owned(number))
        clear_alignment_flag();
    struct sigaction was;
    if (real_signal_functions.sigaction(number, action, &was) != 0)
        return -1;
    const ProgramAction kernels = read_action(was);
    const SignalEntry& entry = signal_table[number];
    if (is_owned(number) && kernels.handler == reinterpret_cast<uint64_t>(entry.owner.load(std::memory_order_relaxed)))
        give_action(entry.installed.read(), &was);
    else if (is_wrapper(kernels))
        show_program(entry.installed.read(), &was);
    if (former)
        *former = was;
    return 0;
}
#endif

} // namespace

ProgramAction ActionEntry::read() const {
    // A handler may have interrupted the writer only if that is another thread's or, after a fork, nobody's: it never
    // waits for long.
    ProgramAction action = {};
    for (int attempt = 0; attempt < 10000; ++attempt) {
        const uint32_t version = version_.load(std::memory_order_acquire);
        action = {handler_.load(std::memory_order_relaxed), flags_.load(std::memory_order_relaxed),
                  mask_.load(std::memory_order_relaxed)};
        std::atomic_thread_fence(std::memory_order_acquire);
        if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version)
            break;
    }
    return action;
}

void ActionEntry::write(const ProgramAction& action) {
    const uint32_t version = version_.load(std::memory_order_relaxed) | 1; // odd already: a fork cut a writer short
    version_.store(version, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    handler_.store(action.handler, std::memory_order_relaxed);
    flags_.store(action.flags, std::memory_order_relaxed);
    mask_.store(action.mask, std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_release);
}

void start_program_signals(const RealSignalFunctions& functions) { real_signal_functions = functions; }

void continue_program_signals_in_child() {
    if (!shared)
        return;
    shared->pid.store(process_id(), std::memory_order_relaxed);
    shared->lock.forget_holder();
}

bool in_vfork_child() {
    if (!shared || is_confined()) // a confined process is asked nothing, and starts no other
        return false;
    uint32_t known = 0;
    const uint32_t pid = process_id();
    return !shared->pid.compare_exchange_strong(known, pid, std::memory_order_relaxed) && known != pid;
}

bool program_ignores_owned_signal() {
    for (const int number : {SIGBUS, SIGTRAP})
        if (owned_signals.load(std::memory_order_relaxed) & signal_bit(number) &&
            signal_table[number].installed.read().handler == reinterpret_cast<uint64_t>(SIG_IGN))
            return true;
    return false;
}

uint64_t ignore_really() {
    uint64_t ignored = 0;
#if defined(__x86_64__)
    for (const int number : {SIGBUS, SIGTRAP})
        if (is_owned(number) && signal_table[number].installed.read().handler == reinterpret_cast<uint64_t>(SIG_IGN)) {
            set_kernel_action(number, reinterpret_cast<uint64_t>(SIG_IGN), 0, 0);
            ignored |= signal_bit(number);
        }
#endif
    return ignored;
}

void stop_ignoring_really([[maybe_unused]] uint64_t bits) {
#if defined(__x86_64__)
    for (const int number : {SIGBUS, SIGTRAP})
        if (bits & signal_bit(number))
            install_owner(number, signal_table[number].installed.read());
#endif
}

bool owns_signals() { return owned_signals.load(std::memory_order_relaxed) != 0; }

void keep_signal_open(int number) {
    share();
    kept_open_number.store(number, std::memory_order_relaxed);
    open_signals.fetch_or(signal_bit(number), std::memory_order_relaxed);
}

void let_signal_go(int number) {
    kept_open_number.store(0, std::memory_order_relaxed);
    open_signals.fetch_and(~signal_bit(number), std::memory_order_relaxed);
    uint64_t& held = held_back();
    if (held & signal_bit(number)) {
        held &= ~signal_bit(number);
        block_really(signal_bit(number));
    }
}

#if defined(__x86_64__)
int own_signal(int number, void (*handler)(int, siginfo_t*, void*)) {
    if ((number != SIGBUS && number != SIGTRAP) || !share())
        return -EINVAL;
    if (shadow_stack_is_on()) // handlers would return elsewhere than they were called from
        return -ENOTSUP;
    const AlignmentTrapOff off;
    struct sigaction action;
    if (real_signal_functions.sigaction(number, nullptr, &action) != 0)
        return -errno;
    ProgramAction program = read_action(action);
    uint64_t real_mask = 0;
    {
        const LockedTable locked;
        SignalEntry& entry = signal_table[number];
        if (!is_owned(number)) {
            entry.installed.write(program);
            if (program.is_function())
                entry.function.write(program);
        }
        program = entry.installed.read();
        entry.owner.store(handler, std::memory_order_relaxed);
        owned_signals.fetch_or(signal_bit(number), std::memory_order_relaxed);
        open_signals.fetch_or(signal_bit(number), std::memory_order_relaxed);
        install_owner(number, program);
        for (int other = 1; other <= kSignals; ++other)
            if (is_anybodys(other) && !is_owned(other) && other != SIGBUS && other != SIGTRAP)
                wrap_existing(other);
    }
    const uint64_t bit = signal_bit(number);
    system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, word(&bit), word(&real_mask), sizeof bit);
    held_back() |= real_mask & bit;
    return 0;
}

void disown_signal(int number) {
    const AlignmentTrapOff off;
    const LockedTable locked;
    if (!is_owned(number))
        return;
    const uint64_t bit = signal_bit(number);
    owned_signals.fetch_and(~bit, std::memory_order_relaxed);
    open_signals.fetch_and(~bit, std::memory_order_relaxed);
    struct sigaction action;
    give_action(signal_table[number].installed.read(), &action);
    real_signal_functions.sigaction(number, &action, nullptr);
    if (owned_signals.load(std::memory_order_relaxed) == 0)
        for (int other = 1; other <= kSignals; ++other)
            unwrap(other);
}

int program_sigaction(int number, const struct sigaction* action, struct sigaction* former) {
    if (!owns_signals() || !is_anybodys(number))
        return real_signal_functions.sigaction(number, action, former);
    if (in_vfork_child())
        return change_in_vfork_child(number, action, former);
    struct sigaction wanted, was; // the caller's memory is not touched under the lock
    if (action)
        wanted = *action;
    int result;
    {
        const LockedTable locked;
        result = is_owned(number) ? change_owned(number, action ? &wanted : nullptr, &was)
                                  : change_wrapped(number, action ? &wanted : nullptr, &was);
    }
    if (result == 0 && former)
        *former = was;
    return result;
}
#else
int own_signal(int, void (*)(int, siginfo_t*, void*)) { return -ENOSYS; }
void disown_signal(int) {}
int program_sigaction(int number, const struct sigaction* action, struct sigaction* former) {
    return real_signal_functions.sigaction(number, action, former);
}
void deliver_to_program(int, siginfo_t*, void*) {}
void rearm_after_alternate_stack() {}
bool has_left_alternate_stack(uint64_t) { return false; }
#endif

} // namespace plumb::shim
