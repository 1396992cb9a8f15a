// How the program's signal handlers are entered while signals are owned.
//
// The kernel calls plumb_enter_handler, which puts the context right and jumps to the program's handler: no frame stays
// between the handler and the kernel's, so whoever walks the stack, throws or jumps out of it finds what it would have
// found. It returns to a place of the shim's, plumb_finish_signal, instead of the C library's: held-back signals may
// change while it runs, and so may the alignment flag. The context that the handler sees has this flag only if the
// program has set it itself; whoever sets it there takes the trap for himself.
//
// Signals of the owner take the other way: its handler gives the context to deliver_to_program, which leaves the owner's
// frames behind and continues as if the kernel had entered the program's handler at once.
#include "record/signals/trap_view.h"
#include "record/signals/program_signal_state.h"

#include "platform/code/alignment_flag.h"
#include "platform/os/signal_action.h"
#include "platform/os/system_call.h"

#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)

// Offsets in the frame of a handler (struct rt_sigframe of the kernel): return address, ucontext, siginfo.
// plumb_finish_signal is reached by the handler's return, so that the stack pointer stands at the ucontext; it describes
// itself as a signal frame, as the C library's own return code does. The nop belongs to it: unwinders look up the
// address before the one that is returned to.
__asm__(R"(
.text
.globl plumb_enter_handler
.hidden plumb_enter_handler
.type plumb_enter_handler, @function
plumb_enter_handler:
    pushfq
    andl $0xfffbffff, (%rsp)
    popfq
    push %rdi
    push %rsi
    push %rdx
    lea 24(%rsp), %rcx
    call plumb_prepare_handler
    mov %rdx, %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    jmp plumb_start_handler
.size plumb_enter_handler, . - plumb_enter_handler

.globl plumb_jump_to_handler
.hidden plumb_jump_to_handler
.type plumb_jump_to_handler, @function
plumb_jump_to_handler:
    mov %rdi, %rsp
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rcx, %rdx
    mov %r8, %rax
    mov %r9, %rcx
plumb_start_handler:
    test %rcx, %rcx
    je 1f
    pushfq
    orl $0x40000, (%rsp)
    popfq
1:  mov %rax, %rcx
    xor %eax, %eax
    jmp *%rcx
.size plumb_jump_to_handler, . - plumb_jump_to_handler

.globl plumb_ignore_signal
.hidden plumb_ignore_signal
.type plumb_ignore_signal, @function
plumb_ignore_signal:
    ret
.size plumb_ignore_signal, . - plumb_ignore_signal

.macro saved_register number, offset
    .cfi_escape 0x10, \number, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
.endm
.globl plumb_finish_signal
.hidden plumb_finish_signal
.cfi_startproc
.cfi_signal_frame
.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
saved_register 8, 40
saved_register 9, 48
saved_register 10, 56
saved_register 11, 64
saved_register 12, 72
saved_register 13, 80
saved_register 14, 88
saved_register 15, 96
saved_register 5, 104
saved_register 4, 112
saved_register 6, 120
saved_register 3, 128
saved_register 1, 136
saved_register 0, 144
saved_register 2, 152
saved_register 7, 160
saved_register 16, 168
    nop
.type plumb_finish_signal, @function
plumb_finish_signal:
    mov %rsp, %rdi
    pushfq
    andl $0xfffbffff, (%rsp)
    popfq
    mov %rsp, %rbx
    and $-16, %rsp
    call plumb_after_handler
    mov %rbx, %rsp
    mov $15, %rax
    syscall
.cfi_endproc
.size plumb_finish_signal, . - plumb_finish_signal
)");

extern "C" {
void plumb_finish_signal() PLUMB_HIDDEN;
void plumb_ignore_signal(int) PLUMB_HIDDEN;
[[noreturn]] void plumb_jump_to_handler(uintptr_t frame, int number, siginfo_t* info, void* context, uint64_t target,
                                        uint64_t armed) PLUMB_HIDDEN;
}

namespace plumb::shim {
namespace {

struct Target { // in rax and rdx
    uint64_t function;
    uint64_t armed; // the alignment flag is set for it
};

constexpr uint64_t kAutoDisarm = uint64_t{1} << 31; // SS_AUTODISARM

// The alternate stack on which a handler of the calling thread last ran with the alignment flag clear for that reason.
struct StackRange {
    uint64_t low, bytes;
};
__thread StackRange disarmed_on __attribute__((tls_model("initial-exec")));

// What plumb_finish_signal must know lies in the context, in the last of the words that the kernel leaves alone.
constexpr uint64_t kNote = 0x706c756d62666c00, kNoteBits = 0xff;
constexpr uint64_t kFlagHidden = 1, kDisarmedHere = 2, kFlagShown = 4;
uint64_t& note_of(ucontext_t& context) { return reinterpret_cast<uint64_t*>(context.uc_mcontext.__reserved1)[7]; }

uint64_t& mask_of(ucontext_t& context) { return first_word(context.uc_sigmask); }

bool lies_in(const stack_t& stack, uint64_t address) {
    return !(stack.ss_flags & SS_DISABLE) && address - reinterpret_cast<uint64_t>(stack.ss_sp) < stack.ss_size;
}

// The signal is raised once more when the caller has returned, with nobody in its way: it ends the process where
// the program stands, with the status and the core file that it would have had.
void let_default_happen(int number, const siginfo_t& info, ucontext_t& context) {
    context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kAlignmentFlag);
    const uint64_t bit = signal_bit(number);
    set_kernel_action(number, reinterpret_cast<uint64_t>(SIG_DFL), 0, 0);
    block_really(bit);
    mask_of(context) &= ~bit;
    send_to_self(number, info);
}

// `return_address` of the frame in which the handler is to run, `stack_pointer` where it will run.
Target prepare(const ProgramAction& action, int number, ucontext_t& context, uint64_t* return_address,
               uint64_t stack_pointer) {
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    uint64_t& held = held_back();
    uint64_t held_inside = held | (action.mask & open);
    if ((open & signal_bit(number)) && !(action.flags & SA_NODEFER))
        held_inside |= signal_bit(number);
    mask_of(context) |= held;
    *return_address = reinterpret_cast<uint64_t>(plumb_finish_signal);
    if (held_inside != 0)
        held = held_inside;
    auto& flags = context.uc_mcontext.gregs[REG_EFL];
    bool armed = (flags & static_cast<greg_t>(kAlignmentFlag)) != 0;
    uint64_t note = kNote;
    if (armed && trap_view().program_has_alignment_flag()) {
        note |= kFlagShown;
    } else if (armed) {
        note |= kFlagHidden;
        flags &= ~static_cast<greg_t>(kAlignmentFlag);
    } else if (alignment_flag_taken && trap_view().is_armed()) { // the tool's own doing is interrupted
        armed = true;
    }
    if (armed && !(note & kFlagShown) && lies_in(context.uc_stack, stack_pointer)) {
        armed = false; // the stack may be too small for the trap's frames
        note |= kDisarmedHere;
        disarmed_on = {reinterpret_cast<uint64_t>(context.uc_stack.ss_sp), context.uc_stack.ss_size};
    }
    note_of(context) = note;
    return {action.handler, armed};
}

bool is_fault(int number, const siginfo_t& info) {
    return info.si_code > 0 && !(number == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// The kernel's frame, moved to the alternate stack as if it had been put there at once. What it points to (the
// registers of the floating point unit) stays behind: nobody uses the stack below the interrupted one meanwhile.
struct MovedFrame {
    uintptr_t frame;
    siginfo_t* info;
    ucontext_t* context;
};
constexpr size_t kContextBytes = 304; // of the kernel's: its mask has one word

MovedFrame move_to_alternate_stack(siginfo_t* info, ucontext_t* context) {
    const stack_t stack = context->uc_stack;
    const size_t bytes = sizeof(uint64_t) + kContextBytes + sizeof(siginfo_t);
    uintptr_t frame = (reinterpret_cast<uintptr_t>(stack.ss_sp) + stack.ss_size - bytes) & ~uintptr_t{15};
    frame -= 8; // as a call leaves it
    auto* moved = reinterpret_cast<char*>(frame);
    memcpy(moved, reinterpret_cast<char*>(context) - 8, 8 + kContextBytes);
    memcpy(moved + 8 + kContextBytes, info, sizeof *info);
    if (static_cast<uint64_t>(static_cast<unsigned>(stack.ss_flags)) & kAutoDisarm) {
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        system_call(SYS_sigaltstack, word(&none));
    }
    return {frame, reinterpret_cast<siginfo_t*>(moved + 8 + kContextBytes), reinterpret_cast<ucontext_t*>(moved + 8)};
}

} // namespace

// Of every signal but the owned ones.
extern "C" __attribute__((used)) Target plumb_prepare_handler(int number, siginfo_t* info, void* context,
                                                             uint64_t* return_address) {
    trap_view().make_context_natural(context);
    const SignalEntry& entry = signal_table[number];
    const ProgramAction installed = entry.installed.read();
    auto& interrupted = *static_cast<ucontext_t*>(context);
    if (installed.handler == reinterpret_cast<uint64_t>(SIG_DFL) && dies_at_an_instruction(number)) {
        let_default_happen(number, *info, interrupted);
        return {reinterpret_cast<uint64_t>(plumb_ignore_signal), 0};
    }
    // Not `installed`: another thread may have changed that since the kernel decided for the handler.
    const ProgramAction action = entry.function.read();
    if (!action.is_function())
        return {reinterpret_cast<uint64_t>(plumb_ignore_signal), 0};
    return prepare(action, number, interrupted, return_address, reinterpret_cast<uint64_t>(return_address));
}

// The stack pointer stands at the frame's context. Its mask is what the program wants to go on with.
extern "C" __attribute__((used)) void plumb_after_handler(ucontext_t* context) {
    const uint64_t note = note_of(*context); // another one's, if the program has replaced the context
    auto& flags = context->uc_mcontext.gregs[REG_EFL];
    if ((note & ~kNoteBits) == kNote) {
        const bool has_flag = (flags & static_cast<greg_t>(kAlignmentFlag)) != 0;
        if (has_flag != ((note & kFlagShown) != 0))
            trap_view().give_alignment_flag_to_program(has_flag);
        else if (note & kFlagHidden && trap_view().is_armed())
            flags |= static_cast<greg_t>(kAlignmentFlag);
        if (note & kDisarmedHere)
            disarmed_on = {};
    }
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    uint64_t& held = held_back();
    held = mask_of(*context) & open;
    mask_of(*context) &= ~open;
    if (const uint64_t released = waiting_signals() & ~held) {
        block_really(released); // they arrive behind the return, not here
        release_waiting(released);
    }
}

void rearm_after_alternate_stack() {
    const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    if (here - disarmed_on.low >= disarmed_on.bytes)
        return;
    disarmed_on = {};
    alignment_trap_kept_off = 0; // whatever was interrupted is left too
    if (trap_view().is_armed())
        set_alignment_flag();
}

bool has_left_alternate_stack(uint64_t stack_pointer) {
    if (disarmed_on.bytes == 0 || stack_pointer - disarmed_on.low < disarmed_on.bytes)
        return false;
    disarmed_on = {};
    return true;
}

void deliver_to_program(int number, siginfo_t* info, void* kernel_context) {
    trap_view().make_context_natural(kernel_context);
    auto* context = static_cast<ucontext_t*>(kernel_context);
    SignalEntry& entry = signal_table[number];
    const ProgramAction action = entry.installed.read();
    const bool ignored = action.handler == reinterpret_cast<uint64_t>(SIG_IGN);
    const bool blocked = (held_back() & signal_bit(number)) != 0;
    if (is_fault(number, *info)) { // cannot be put off: the kernel ends a process that blocks or ignores it
        if (!action.is_function() || blocked)
            return let_default_happen(number, *info, *context);
    } else if (ignored) {
        return;
    } else if (blocked) {
        return hold_back(number, *info);
    } else if (!action.is_function()) {
        return let_default_happen(number, *info, *context);
    }
    if (action.flags & SA_RESETHAND) {
        ProgramAction reset = action;
        reset.handler = reinterpret_cast<uint64_t>(SIG_DFL);
        entry.installed.write(reset);
    }
    const uint64_t open = open_signals.load(std::memory_order_relaxed);
    const uint64_t mask = (mask_at_interruption(mask_of(*context)) | action.mask) & ~open;
    const auto stack_pointer = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
    MovedFrame at = {reinterpret_cast<uintptr_t>(context) - 8, info, context};
    if ((action.flags & SA_ONSTACK) && context->uc_stack.ss_size != 0 && !(context->uc_stack.ss_flags & SS_DISABLE) &&
        !lies_in(context->uc_stack, stack_pointer))
        at = move_to_alternate_stack(info, context);
    const Target target = prepare(action, number, *at.context, reinterpret_cast<uint64_t*>(at.frame), at.frame);
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&mask), 0, sizeof mask);
    plumb_jump_to_handler(at.frame, number, at.info, at.context, target.function, target.armed);
}

} // namespace plumb::shim

#endif
