// The program's signal masks: what it blocks of the open signals is kept here and never passed to the kernel.
#include "platform/code/alignment_flag.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/system_call.h"
#include "record/process/process.h"
#include "record/signals/program_signal_state.h"

#include <errno.h>
#include <string.h>

namespace plumb::shim {
namespace {

struct ThreadSignals {
    uint64_t held;
    uint64_t waiting;         // bits of those that arrived while held back
    siginfo_t bus, trap;      // of these two, how they arrived
    uint64_t held_in_child;   // by the child of vfork that borrows the thread at present
    uint32_t child;           // its process
    bool waits;               // in a call that waits with `wait_mask`, until a handler is entered from it
    uint64_t wait_mask;
};

// initial-exec: read in signal handlers.
__thread ThreadSignals thread_signals __attribute__((tls_model("initial-exec")));

// Threads inside sigwait() for an owned signal, the last one of each kind.
std::atomic<uint32_t> waiters[kSignals + 1];

long change_mask(int how, uint64_t bits, uint64_t* former = nullptr) {
    return system_call(SYS_rt_sigprocmask, how, word(&bits), word(former), sizeof bits);
}

bool is_only_thread() { return !is_confined() && process_thread_count("/proc") == 1; }

siginfo_t& place_of(int number) { return number == SIGBUS ? thread_signals.bus : thread_signals.trap; }

// In the words of a sigset_t that the kernel leaves alone.
constexpr size_t kTagWord = 14, kHeldWord = 15;
constexpr uint64_t kTag = 0x686c642062616b63;
uint64_t* words_of(sigset_t* mask) { return reinterpret_cast<uint64_t*>(mask); }

} // namespace

bool signals_pass_through() {
    return (open_signals.load(std::memory_order_relaxed) | thread_signals.held) == 0;
}

uint64_t& held_back() {
    // The child's state is only looked at while there is a child, and there is nothing to ask the kernel for while
    // nothing was ever held back.
    if (!in_vfork_child())
        return thread_signals.held;
    const uint32_t pid = process_id();
    if (thread_signals.child != pid) {
        thread_signals.child = pid;
        thread_signals.held_in_child = thread_signals.held;
    }
    return thread_signals.held_in_child;
}

void hold_back(int number, const siginfo_t& info) {
    if (forward_to_waiter(number, info) || (thread_signals.waiting & signal_bit(number)))
        return;
    place_of(number) = info;
    thread_signals.waiting |= signal_bit(number);
}

uint64_t waiting_signals() { return thread_signals.waiting; }

void block_really(uint64_t bits) { change_mask(SIG_BLOCK, bits); }
void unblock_really(uint64_t bits) { change_mask(SIG_UNBLOCK, bits); }

int send_to_self(int number, const siginfo_t& info) {
    return static_cast<int>(
        system_call(SYS_rt_tgsigqueueinfo, process_id(), static_cast<long>(thread_id()), number, word(&info)));
}

void release_waiting(uint64_t numbers) {
    for (const int number : {SIGBUS, SIGTRAP}) {
        if ((thread_signals.waiting & numbers & signal_bit(number)) == 0)
            continue;
        const siginfo_t info = place_of(number);
        thread_signals.waiting &= ~signal_bit(number);
        send_to_self(number, info);
    }
}

bool forward_to_waiter(int number, const siginfo_t& info) {
    const uint32_t tid = waiters[number].load(std::memory_order_relaxed);
    return tid != 0 && info.si_code != SI_TKILL &&
           system_call(SYS_rt_tgsigqueueinfo, process_id(), static_cast<long>(tid), number, word(&info)) == 0;
}

int program_sigmask(int how, const sigset_t* set, sigset_t* former) {
    if (signals_pass_through())
        return real_signal_functions.pthread_sigmask(how, set, former);
    uint64_t& held = held_back();
    const uint64_t open = open_signals.load(std::memory_order_relaxed), held_before = held;
    sigset_t wanted, real_before;
    if (set) {
        wanted = *set;
        if (how != SIG_UNBLOCK)
            first_word(wanted) &= ~open;
    }
    const int error = real_signal_functions.pthread_sigmask(how, set ? &wanted : nullptr, &real_before);
    if (error != 0)
        return error;
    const uint64_t slipped = first_word(real_before) & open; // blocked before the signal was owned, by another thread's doing
    const uint64_t chosen = set ? first_word(*set) & open : 0;
    if (former) { // may be the same as `set`
        const uint64_t before = first_word(real_before) | held_before;
        *former = real_before;
        first_word(*former) = before;
    }
    held |= slipped;
    if (set && how == SIG_BLOCK)
        held |= chosen;
    else if (set && how == SIG_UNBLOCK)
        held &= ~first_word(wanted);
    else if (set)
        held = chosen;
    if (slipped)
        unblock_really(slipped);
    release_waiting(~held);
    return 0;
}

WaitMask::WaitMask(const sigset_t* mask) : mask_(mask) {
    if (!mask || signals_pass_through())
        return;
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    uint64_t& held = held_back();
    changed_ = true;
    held_before_ = held;
    copy_ = *mask;
    held = first_word(copy_) & open;
    first_word(copy_) &= ~open;
    mask_ = &copy_;
    thread_signals.wait_mask = first_word(copy_);
    thread_signals.waits = true;
    delivered_ = thread_signals.waiting & ~held;
    if (delivered_ == 0)
        return;
    // They are to interrupt the call, not to arrive before it.
    was_armed_ = alignment_flag();
    clear_alignment_flag();
    block_really(delivered_);
    release_waiting(delivered_);
}

WaitMask::~WaitMask() {
    if (!changed_)
        return;
    thread_signals.waits = false;
    held_back() = held_before_;
    if (delivered_ != 0) {
        unblock_really(delivered_);
        if (was_armed_)
            set_alignment_flag();
    }
}

ReallyBlocked::ReallyBlocked(const sigset_t* set) {
    if (!set || signals_pass_through())
        return;
    blocked_ = first_word(*set) & owned_signals.load(std::memory_order_relaxed);
    if (blocked_ == 0)
        return;
    was_armed_ = alignment_flag();
    clear_alignment_flag();
    block_really(blocked_);
    release_waiting(blocked_);
    for (const int number : {SIGBUS, SIGTRAP})
        if (blocked_ & signal_bit(number))
            waiters[number].store(thread_id(), std::memory_order_relaxed);
}

ReallyBlocked::~ReallyBlocked() {
    if (blocked_ == 0)
        return;
    uint32_t self = thread_id();
    for (const int number : {SIGBUS, SIGTRAP})
        if (blocked_ & signal_bit(number)) {
            uint32_t expected = self;
            waiters[number].compare_exchange_strong(expected, 0, std::memory_order_relaxed);
        }
    unblock_really(blocked_);
    if (was_armed_)
        set_alignment_flag();
}

uint64_t mask_at_interruption(uint64_t mask_of_context) {
    const bool waited = thread_signals.waits;
    thread_signals.waits = false;
    return waited ? thread_signals.wait_mask : mask_of_context;
}

void remember_held_back(sigset_t* mask) {
    if (signals_pass_through())
        return;
    words_of(mask)[kTagWord] = kTag;
    words_of(mask)[kHeldWord] = held_back();
}

void recall_held_back(sigset_t* mask) {
    if (signals_pass_through())
        return;
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    uint64_t held = first_word(*mask) & open;
    thread_signals.waits = false;
    if (words_of(mask)[kTagWord] == kTag)
        held |= words_of(mask)[kHeldWord] & open;
    first_word(*mask) &= ~open;
    held_back() = held;
    release_waiting(~held);
}

uint64_t held_back_signals() { return thread_signals.held; }

void inherit_held_back_signals(uint64_t held) {
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    if ((open | held) == 0)
        return;
    thread_signals = {};
    thread_signals.held = held & open;
    adopt_thread_mask(); // its attributes may have set a mask of their own
    if (held & ~open)    // given up in the meantime
        block_really(held & ~open);
}

void adopt_thread_mask() {
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    uint64_t real = 0;
    change_mask(SIG_UNBLOCK, open, &real);
    held_back() |= real & open;
}

SignalsAsTheProgramSees::SignalsAsTheProgramSees() : was_armed_(alignment_flag()) {
    if (was_armed_)
        clear_alignment_flag();
    if (signals_pass_through())
        return;
    // A child of vfork leaves by exec, and what it has counted here would stay its parent's.
    const bool lent = in_vfork_child();
    if (!lent)
        ++alignment_trap_kept_off;
    counted_ = !lent;
    if (program_ignores_owned_signal() && (lent || is_only_thread()))
        ignored_ = ignore_really();
    blocked_ = held_back();
    if (blocked_ != 0) {
        block_really(blocked_);
        release_waiting(blocked_); // an exec keeps what is pending
    }
}

SignalsAsTheProgramSees::~SignalsAsTheProgramSees() {
    if (blocked_ != 0)
        unblock_really(blocked_);
    if (ignored_ != 0)
        stop_ignoring_really(ignored_);
    if (counted_)
        --alignment_trap_kept_off;
    if (was_armed_)
        set_alignment_flag();
}

} // namespace plumb::shim
