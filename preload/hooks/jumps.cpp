// Jumps that restore a signal mask. The C library saves and sets the kernel's mask without passing through
// pthread_sigmask; what the shim holds back of it travels in the words of the saved mask that the kernel does not use.
// All of these return twice or never, so they are entered by a jump.
// A handler may also jump out of the middle of recording.
#include "hooks/real_functions.h"
#include "platform/code/tail_hook.h"
#include "platform/os/jump_target.h"
#include "record/process/left_guard.h"
#include "record/signals/program_signals.h"

using namespace plumb::shim;

namespace {

void before_jump(__jmp_buf_tag* buffer) {
    if (buffer->__mask_was_saved)
        recall_held_back(&buffer->__saved_mask);
    before_jump_to(stack_pointer_of(*buffer));
    rearm_after_alternate_stack();
}

} // namespace

extern "C" {

__attribute__((used)) void* plumb_before_sigsetjmp(__jmp_buf_tag* buffer, int saves_mask) {
    if (saves_mask) // only then it is known to be a whole one
        remember_held_back(&buffer->__saved_mask);
    return reinterpret_cast<void*>(real_functions()->__sigsetjmp);
}

__attribute__((used)) void* plumb_before_setjmp(__jmp_buf_tag* buffer) {
    remember_held_back(&buffer->__saved_mask);
    return reinterpret_cast<void*>(real_functions()->setjmp);
}

#define PLUMB_BEFORE_JUMP(name)                                                                              \
    __attribute__((used)) void* plumb_before_##name(__jmp_buf_tag* buffer, int) {                            \
        before_jump(buffer);                                                                                 \
        return reinterpret_cast<void*>(real_functions()->name);                                              \
    }
PLUMB_BEFORE_JUMP(siglongjmp)
PLUMB_BEFORE_JUMP(longjmp)
PLUMB_BEFORE_JUMP(_longjmp)
PLUMB_BEFORE_JUMP(__longjmp_chk)

__attribute__((used)) void* plumb_before_getcontext(ucontext_t* context) {
    remember_held_back(&context->uc_sigmask);
    return reinterpret_cast<void*>(real_functions()->getcontext);
}

__attribute__((used)) void* plumb_before_setcontext(ucontext_t* context) {
    recall_held_back(&context->uc_sigmask);
    before_jump_to(stack_pointer_of(*context));
    return reinterpret_cast<void*>(real_functions()->setcontext);
}

__attribute__((used)) void* plumb_before_swapcontext(ucontext_t* from, ucontext_t* to) {
    remember_held_back(&from->uc_sigmask);
    recall_held_back(&to->uc_sigmask);
    return reinterpret_cast<void*>(real_functions()->swapcontext);
}
}

PLUMB_TAIL_HOOK(__sigsetjmp, plumb_before_sigsetjmp);
PLUMB_TAIL_HOOK(setjmp, plumb_before_setjmp);
PLUMB_TAIL_HOOK(siglongjmp, plumb_before_siglongjmp);
PLUMB_TAIL_HOOK(longjmp, plumb_before_longjmp);
PLUMB_TAIL_HOOK(_longjmp, plumb_before__longjmp);
PLUMB_TAIL_HOOK(__longjmp_chk, plumb_before___longjmp_chk);
PLUMB_TAIL_HOOK(getcontext, plumb_before_getcontext);
PLUMB_TAIL_HOOK(setcontext, plumb_before_setcontext);
PLUMB_TAIL_HOOK(swapcontext, plumb_before_swapcontext);
