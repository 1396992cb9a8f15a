// The program's own signal dispositions and masks, while the shim owns some signals itself.
//
// The alignment trap needs SIGBUS and SIGTRAP: its handlers must be installed, and neither signal may be blocked in any
// thread that is armed (the kernel kills a process that faults with the signal blocked). The program must not notice:
// what it installs for these is kept here and called for what is its own; what it blocks of them is kept here, thread by
// thread, shown to it again, and held back until it unblocks them. Its handlers of every signal are entered through
// the shim, so that they see the context that the program would have had (record/align/trap/resume_at_original.h).
//
// Everything is signal-safe and passes through, at the cost of one load, while nothing is owned.
#pragma once

#include "platform/code/alignment_flag.h"

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

// The functions behind the hooks, through which dispositions and masks of the program are set: other preloads may stand
// behind them. Once, before anything below.
struct RealSignalFunctions {
    int (*sigaction)(int, const struct sigaction*, struct sigaction*);
    int (*pthread_sigmask)(int, const sigset_t*, sigset_t*);
};
void start_program_signals(const RealSignalFunctions&);
void continue_program_signals_in_child(); // of fork; not of vfork

// Takes over the signal: installs `handler` with SA_SIGINFO | SA_NODEFER, no altstack, all signals blocked but the
// synchronous ones; from now on sigaction() of the program goes to the table. 0 or a negative error number.
int own_signal(int number, void (*handler)(int, siginfo_t*, void*));

// Gives it back: the program's own disposition is installed.
void disown_signal(int number);
bool owns_signals();

// A signal of the shim's own that the program is not to block either, but that has no owner's handler (the sampling
// timer's), and its end.
void keep_signal_open(int number);
void let_signal_go(int number);

// Whether there is anything to keep apart in the calling thread: if not, its masks are the kernel's.
bool signals_pass_through();

// Called by the owner's handler, with AC clear, for a signal that is the program's: what the kernel would have done. If the
// program has a handler it does NOT return: the frames down to the kernel's are dropped and the handler entered in their
// place, on the stack, with the mask and the flags that it was installed with. It returns when the signal is held back,
// ignored, or when its default action is about to happen: the caller then returns from its own handler at once.
// `info` and `context` must be those that the kernel passed.
void deliver_to_program(int number, siginfo_t* info, void* context);

// What the hooks of sigaction, signal, sigprocmask and their kin call. As the C library's functions, errors in errno.
int program_sigaction(int number, const struct sigaction* action, struct sigaction* former);
int program_sigmask(int how, const sigset_t* set, sigset_t* former); // returns an error number, as pthread_sigmask

// For the time of a call that waits with another mask (sigsuspend, ppoll, pselect, epoll_pwait).
class WaitMask {
  public:
    explicit WaitMask(const sigset_t* mask); // null: the call does not change it
    ~WaitMask();
    WaitMask(const WaitMask&) = delete;
    WaitMask& operator=(const WaitMask&) = delete;
    const sigset_t* get() const { return mask_; }

  private:
    const sigset_t* mask_;
    sigset_t copy_;
    uint64_t held_before_ = 0;
    uint64_t delivered_ = 0; // held back until now, for the call to be interrupted by
    bool changed_ = false, was_armed_ = false;
};

// A handler that ran on an alternate stack, with the alignment flag clear for that, is left by a jump: sets it again.
void rearm_after_alternate_stack();

// Whether it was left by other means, an exception: the calling thread, whose stack pointer this is, runs elsewhere by now.
// Says so once.
bool has_left_alternate_stack(uint64_t stack_pointer);

// Signals that wait because they are held back in the calling thread: for sigpending.
uint64_t waiting_signals();

// For the time of a sigwait(): the owned ones of `set` are really blocked, and those that wait are pending.
class ReallyBlocked {
  public:
    explicit ReallyBlocked(const sigset_t* set);
    ~ReallyBlocked();
    ReallyBlocked(const ReallyBlocked&) = delete;
    ReallyBlocked& operator=(const ReallyBlocked&) = delete;

  private:
    const AlignmentTrapKeptOff kept_off_;
    uint64_t blocked_ = 0;
    bool was_armed_ = false;
};

// What a jump buffer or a context keeps of the held-back signals: the words of its mask that the kernel does not use.
// `mask` is the 128 bytes of the C library's sigset_t.
void remember_held_back(sigset_t* mask);
void recall_held_back(sigset_t* mask); // of a mask that is about to become the thread's; without owned signals after it

// Of the calling thread: for a new thread to inherit, and for exec, which must hand on the mask as the program sees it.
uint64_t held_back_signals();            // bit number-1
void inherit_held_back_signals(uint64_t);

// What the calling thread really blocks of the open signals becomes held back.
void adopt_thread_mask();

// Around calls that replace the process or start others: the thread's alignment flag is clear and its mask is the one
// that the program sees. In the thread that makes the call; also in a vfork child. An owned signal that the program
// ignores is really ignored meanwhile, unless there are other threads in the process: those may be armed, and a hit
// with the signal ignored would end them. The new process then finds its default action.
class SignalsAsTheProgramSees {
  public:
    SignalsAsTheProgramSees();
    ~SignalsAsTheProgramSees();
    SignalsAsTheProgramSees(const SignalsAsTheProgramSees&) = delete;
    SignalsAsTheProgramSees& operator=(const SignalsAsTheProgramSees&) = delete;

  private:
    uint64_t blocked_ = 0, ignored_ = 0;
    bool was_armed_, counted_ = false;
};

} // namespace plumb::shim
