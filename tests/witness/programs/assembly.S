# Frames that compilers seldom make, described by hand. Each function spends its time between pushes, so that samples fall
# everywhere; main calls them in turn for good.
    .text

# The caller's rsp on the stack, as cryptography libraries keep it: CFA = *(rsp + 64) + 8.
    .type keeps_rsp, @function
keeps_rsp:
    .cfi_startproc
    mov %rsp, %rax
    .cfi_def_cfa_register %rax
    push %rbx
    .cfi_offset %rbx, -16
    push %rbp
    .cfi_offset %rbp, -24
    sub $96, %rsp
    and $-64, %rsp
    mov %rax, 64(%rsp)
    .cfi_escape 0x0f, 6, 0x77, 0xc0, 0, 0x06, 0x23, 8
    mov $300, %ecx
1:  imul %rcx, %rbx
    dec %ecx
    jnz 1b
    call leaf
    mov 64(%rsp), %rsi
    .cfi_def_cfa %rsi, 8
    mov -16(%rsi), %rbp
    .cfi_restore %rbp
    mov -8(%rsi), %rbx
    .cfi_restore %rbx
    lea (%rsi), %rsp
    .cfi_def_cfa_register %rsp
    ret
    .cfi_endproc
    .size keeps_rsp, . - keeps_rsp

# Returns in the middle, so that the state before it must be restored.
    .type two_exits, @function
two_exits:
    .cfi_startproc
    push %r12
    .cfi_adjust_cfa_offset 8
    .cfi_offset %r12, -16
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -24
    sub $40, %rsp
    .cfi_adjust_cfa_offset 40
    mov $77, %ebp
    test $1, %edi
    jnz 2f
    .cfi_remember_state
    call leaf
    add $40, %rsp
    .cfi_adjust_cfa_offset -40
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    pop %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r12
    ret
    .cfi_restore_state
2:  call leaf
    call realigns
    add $40, %rsp
    .cfi_adjust_cfa_offset -40
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    pop %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r12
    ret
    .cfi_endproc
    .size two_exits, . - two_exits

# As compilers align the stack of a function that gets its arguments there.
    .type realigns, @function
realigns:
    .cfi_startproc
    lea 8(%rsp), %r10
    .cfi_def_cfa %r10, 0
    and $-64, %rsp
    push -8(%r10)
    push %rbp
    mov %rsp, %rbp
    .cfi_escape 0x10, 6, 2, 0x76, 0
    push %r10
    .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
    sub $56, %rsp
    call leaf
    add $56, %rsp
    pop %r10
    .cfi_def_cfa %r10, 0
    pop %rbp
    lea -8(%r10), %rsp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size realigns, . - realigns

    .type leaf, @function
leaf:
    .cfi_startproc
    push %rdi
    .cfi_adjust_cfa_offset 8
    mov $200, %ecx
1:  imul %rcx, %rdi
    dec %ecx
    jnz 1b
    pop %rdi
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size leaf, . - leaf

    .globl main
    .type main, @function
main:
    .cfi_startproc
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    xor %edi, %edi
1:  call keeps_rsp
    call two_exits
    inc %edi
    jmp 1b
    .cfi_endproc
    .size main, . - main

    .section .note.GNU-stack, "", @progbits
