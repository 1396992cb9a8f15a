#include "platform/os/signal_action.h"

#include "platform/os/system_call.h"

// The kernel returns from a handler through this; the C library keeps its own to itself. Unwinders know it by its
// bytes, as long as no function's description covers the address before it: hence the nop.
#if defined(__x86_64__)
__asm__(".text\nnop\n.globl plumb_signal_return\n.hidden plumb_signal_return\n.type plumb_signal_return, @function\n"
        "plumb_signal_return:\nmov $15, %rax\nsyscall\n.size plumb_signal_return, . - plumb_signal_return\n");
extern "C" void plumb_signal_return();
#endif

namespace plumb::shim {
namespace {

struct KernelAction {
    uintptr_t handler;
    unsigned long flags;
#if defined(__x86_64__)
    void (*restorer)();
#endif
    uint64_t mask;
};

constexpr unsigned long kRestorerFlag = 0x04000000; // SA_RESTORER, which user headers do not name

int install(int signal_number, SignalHandler handler, unsigned long flags, uint64_t mask) {
    KernelAction action = {};
    action.handler = reinterpret_cast<uintptr_t>(handler);
    action.flags = flags;
    action.mask = mask;
#if defined(__x86_64__)
    action.flags |= kRestorerFlag;
    action.restorer = plumb_signal_return;
#endif
    return static_cast<int>(system_call(SYS_rt_sigaction, signal_number, word(&action), 0, sizeof action.mask));
}

} // namespace

int install_handler(int signal_number, SignalHandler handler) {
    constexpr auto bit = [](int number) { return uint64_t{1} << (number - 1); };
    constexpr uint64_t synchronous = bit(SIGSEGV) | bit(SIGBUS) | bit(SIGTRAP) | bit(SIGFPE) | bit(SIGILL);
    return install(signal_number, handler, SA_SIGINFO | SA_RESTART | SA_ONSTACK, ~synchronous);
}

int set_kernel_action(int signal_number, uint64_t handler, uint64_t flags, uint64_t mask) {
    return install(signal_number, reinterpret_cast<SignalHandler>(handler), flags, mask);
}

int remove_handler(int signal_number) {
    KernelAction action = {};
    action.handler = reinterpret_cast<uintptr_t>(SIG_IGN); // throws away what is pending
    system_call(SYS_rt_sigaction, signal_number, word(&action), 0, sizeof action.mask);
    action.handler = reinterpret_cast<uintptr_t>(SIG_DFL);
    return static_cast<int>(system_call(SYS_rt_sigaction, signal_number, word(&action), 0, sizeof action.mask));
}

bool has_default_action(int signal_number) {
    KernelAction action = {};
    return system_call(SYS_rt_sigaction, signal_number, 0, word(&action), sizeof action.mask) == 0 &&
           action.handler == reinterpret_cast<uintptr_t>(SIG_DFL);
}

void unblock_signal(int signal_number) {
    const uint64_t set = uint64_t{1} << (signal_number - 1);
    system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, word(&set), 0, sizeof set);
}

} // namespace plumb::shim
