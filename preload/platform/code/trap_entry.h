// Entries of signal handlers in threads whose alignment flag may be set: handlers inherit it, and the first unaligned
// access of compiled code in them would raise the same signal again.
//
// PLUMB_TRAP_ENTRY(entry, handler) defines `entry`, which clears the flag without any unaligned access and goes on in
// the extern "C" function `handler` with the same arguments, stack and return address.
#pragma once

#if defined(__x86_64__)
// A handler starts with its return address on top of a stack that is aligned by 16, so the flags are pushed aligned.
#define PLUMB_TRAP_ENTRY(entry, handler)                                                                     \
    __asm__(".text\n.globl " #entry "\n.hidden " #entry "\n.type " #entry ", @function\n.p2align 4\n"        \
            #entry ":\n.cfi_startproc\n"                                                                     \
            "pushfq\n.cfi_adjust_cfa_offset 8\n"                                                             \
            "andq $~0x40000, (%rsp)\n"                                                                       \
            "popfq\n.cfi_adjust_cfa_offset -8\n"                                                             \
            "jmp " #handler "\n.cfi_endproc\n.size " #entry ", . - " #entry "\n")
#endif
