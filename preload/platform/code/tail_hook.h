// A hook that leaves no frame: it asks `before` where to go, and jumps there with arguments, stack and return
// address as the program set them. For functions that look at their return address to learn who calls.
//
// PLUMB_TAIL_HOOK(name, before) defines the exported symbol `name`. `before` is an extern "C" function that takes
// name's integer arguments (as many as it wants to see) and returns the address to jump to.
#pragma once

#if defined(__x86_64__)
#define PLUMB_TAIL_HOOK(name, before)                                                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"                  \
            ".cfi_startproc\n"                                                                               \
            "push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n"                     \
            "push %rdx\n.cfi_adjust_cfa_offset 8\npush %rcx\n.cfi_adjust_cfa_offset 8\n"                     \
            "push %r8\n.cfi_adjust_cfa_offset 8\npush %r9\n.cfi_adjust_cfa_offset 8\n"                       \
            "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"                                                       \
            "call " #before "\n"                                                                             \
            "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"                                                      \
            "pop %r9\n.cfi_adjust_cfa_offset -8\npop %r8\n.cfi_adjust_cfa_offset -8\n"                       \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\npop %rdx\n.cfi_adjust_cfa_offset -8\n"                     \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\npop %rdi\n.cfi_adjust_cfa_offset -8\n"                     \
            "jmp *%rax\n.cfi_endproc\n.size " #name ", . - " #name "\n")
#elif defined(__aarch64__)
#define PLUMB_TAIL_HOOK(name, before)                                                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n.p2align 4\n" #name ":\n"                  \
            ".cfi_startproc\n"                                                                               \
            "stp x29, x30, [sp, #-80]!\n.cfi_adjust_cfa_offset 80\n.cfi_rel_offset x29, 0\n"                 \
            ".cfi_rel_offset x30, 8\n"                                                                       \
            "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\n"                          \
            "stp x6, x7, [sp, #64]\n"                                                                        \
            "bl " #before "\nmov x16, x0\n"                                                                  \
            "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\n"                          \
            "ldp x6, x7, [sp, #64]\n"                                                                        \
            "ldp x29, x30, [sp], #80\n.cfi_adjust_cfa_offset -80\n.cfi_restore x29\n.cfi_restore x30\n"      \
            "br x16\n.cfi_endproc\n.size " #name ", . - " #name "\n")
#else
#error "tail hooks of this architecture are not described yet"
#endif
