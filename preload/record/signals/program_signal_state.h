// What the files of program_signals share: the table of dispositions and the state of the calling thread.
#pragma once

#include "platform/os/hidden.h"
#include "record/signals/program_signals.h"

#include <atomic>
#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr int kSignals = 64;
inline constexpr uint64_t signal_bit(int number) { return uint64_t{1} << (number - 1); }

// The kernel's part of a sigset_t: its first 64 bits. A signal frame holds no more of it.
inline uint64_t& first_word(sigset_t& set) { return *reinterpret_cast<uint64_t*>(&set); }
inline uint64_t first_word(const sigset_t& set) { return *reinterpret_cast<const uint64_t*>(&set); }

// As the program installed it. Flags and mask are the kernel's.
struct ProgramAction {
    uint64_t handler, flags, mask;
    bool is_function() const {
        return handler != reinterpret_cast<uint64_t>(SIG_DFL) && handler != reinterpret_cast<uint64_t>(SIG_IGN);
    }
};

// Written under the table's lock, read by handlers at any time.
class ActionEntry {
  public:
    ProgramAction read() const;
    void write(const ProgramAction&);

  private:
    std::atomic<uint32_t> version_;
    std::atomic<uint64_t> handler_, flags_, mask_;
};

struct SignalEntry {
    ActionEntry installed; // what the program believes to be in force; of owned and wrapped signals
    ActionEntry function;  // the last function installed: what a signal already on its way calls
    std::atomic<bool> wrapped;
    std::atomic<void (*)(int, siginfo_t*, void*)> owner;
};
extern SignalEntry signal_table[kSignals + 1] PLUMB_HIDDEN; // by number

// Bits of the signals that no thread may really block: the owned ones and the sampling timer's.
extern std::atomic<uint64_t> open_signals PLUMB_HIDDEN;
extern std::atomic<uint64_t> owned_signals PLUMB_HIDDEN;
extern RealSignalFunctions real_signal_functions PLUMB_HIDDEN;

// True in a child of vfork, which shares the table and the thread-local state of its parent. One system call.
bool in_vfork_child();

// Whether there is one, and: ignores those owned signals really that the program ignores; their bits. The calling thread is not armed and is the
// process's only one, or a child of vfork. And back: the owners' handlers are installed again.
bool program_ignores_owned_signal();
uint64_t ignore_really();
void stop_ignoring_really(uint64_t bits);

// Held-back signals of the calling thread.
uint64_t& held_back();

// The kernel's mask of the thread when a signal came: that of the waiting call, if it was in one, and not the one to go
// back to, which is what the context has. Asked once for each.
uint64_t mask_at_interruption(uint64_t mask_of_context);

// Keeps a signal until the program unblocks it. A second one of its kind is lost, as the kernel would lose it.
void hold_back(int number, const siginfo_t& info);

// Sends those of `numbers` that wait to the calling thread; they arrive as soon as it does not block them.
void release_waiting(uint64_t numbers);

// Whether another thread waits for it in sigwait(): then it was sent there.
bool forward_to_waiter(int number, const siginfo_t& info);

void block_really(uint64_t bits);
void unblock_really(uint64_t bits);

// Sends to the calling thread; a negative error number where it failed.
int send_to_self(int number, const siginfo_t& info);

// The function that is installed for every signal that the program handles: it enters the program's.
#if defined(__x86_64__)
extern "C" void plumb_enter_handler(int, siginfo_t*, void*) PLUMB_HIDDEN;
#endif

// Whether the shim enters it also where the program leaves the default action, so that it dies at its own instruction and
// not in a slot.
inline bool dies_at_an_instruction(int number) { return number == SIGSEGV || number == SIGILL || number == SIGFPE; }

} // namespace plumb::shim
