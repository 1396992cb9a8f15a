// Stands in for record/program_signals.cpp where that is not linked: signals are owned, what is the program's gets the
// default action.
#include "record/program_signals.h"

#include "platform/identity.h"
#include "platform/signal_action.h"
#include "platform/system_call.h"

namespace plumb::shim {

__attribute__((weak)) int own_signal(int number, void (*handler)(int, siginfo_t*, void*)) {
    return install_trap_handler(number, handler);
}
__attribute__((weak)) void disown_signal(int number) { remove_handler(number); }
__attribute__((weak)) void deliver_to_program(int number, siginfo_t* info, void*) {
    remove_handler(number);
    if (info->si_code <= 0) // sent, not raised by the instruction: nothing else repeats it
        system_call(SYS_tgkill, process_id(), thread_id(), number);
}

} // namespace plumb::shim
