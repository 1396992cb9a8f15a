// Where main begins: the C library's start-up code is given a main that arms the alignment trap and jumps to the
// program's own, with the same arguments and no frame in between.
#include "hooks/real_functions.h"
#include "platform/code/tail_hook.h"
#include "record/align/alignment_collector.h"

#include <errno.h>

using namespace plumb::shim;

namespace {
int (*main_of_program)(int, char**, char**) = nullptr;
}

extern "C" {

__attribute__((used)) void* plumb_before_main(int, char**, char**) {
    const int error_of_program = errno;
    arm_at_main();
    errno = error_of_program;
    return reinterpret_cast<void*>(main_of_program);
}

int plumb_main(int count, char** arguments, char** environment);

int hook___libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*begin)(),
                           void (*end)(), void (*end_of_loader)(), void* stack_end) {
    main_of_program = main;
    return real_functions()->__libc_start_main(plumb_main, count, arguments, begin, end, end_of_loader, stack_end);
}
}

PLUMB_TAIL_HOOK(plumb_main, plumb_before_main);
