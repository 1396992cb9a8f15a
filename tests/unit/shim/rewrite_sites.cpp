#include "rewrite_sites.h"

#if defined(__x86_64__)

MachineState machine_before, machine_after;
uint64_t machine_target;
alignas(16) uint8_t rewrite_static[64];

// The state is loaded with the alignment flag as asked for; all accesses here are aligned.
__asm__(R"asm(
    .text
    .globl run_machine
run_machine:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    sub $40, %rsp
    lea machine_before(%rip), %rax
    movups 136(%rax), %xmm0
    movups 152(%rax), %xmm1
    movups 168(%rax), %xmm2
    movups 184(%rax), %xmm3
    .irp at, 0, 8, 16, 24
    mov 200+\at(%rax), %rcx
    mov %rcx, \at(%rsp)
    .endr
    pushq 128(%rax)
    popfq
    .irp at, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120
    mov 232+\at(%rax), %rcx
    mov %rcx, \at-128(%rsp)
    .endr
    mov 8(%rax), %rcx
    mov 16(%rax), %rdx
    mov 24(%rax), %rbx
    mov 40(%rax), %rbp
    mov 48(%rax), %rsi
    mov 56(%rax), %rdi
    mov 64(%rax), %r8
    mov 72(%rax), %r9
    mov 80(%rax), %r10
    mov 88(%rax), %r11
    mov 96(%rax), %r12
    mov 104(%rax), %r13
    mov 112(%rax), %r14
    mov 120(%rax), %r15
    mov (%rax), %rax
    jmp *machine_target(%rip)

machine_done:
    mov %rax, machine_after(%rip)
    lea machine_after(%rip), %rax
    mov %rcx, 8(%rax)
    mov %rdx, 16(%rax)
    mov %rbx, 24(%rax)
    mov %rsp, 32(%rax)
    mov %rbp, 40(%rax)
    mov %rsi, 48(%rax)
    mov %rdi, 56(%rax)
    mov %r8, 64(%rax)
    mov %r9, 72(%rax)
    mov %r10, 80(%rax)
    mov %r11, 88(%rax)
    mov %r12, 96(%rax)
    mov %r13, 104(%rax)
    mov %r14, 112(%rax)
    mov %r15, 120(%rax)
    .irp at, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120
    mov \at-128(%rsp), %rcx
    mov %rcx, 232+\at(%rax)
    .endr
    pushfq
    popq 128(%rax)
    pushfq
    andq $0xfffffffffffbfeff, (%rsp)
    popfq
    movups %xmm0, 136(%rax)
    movups %xmm1, 152(%rax)
    movups %xmm2, 168(%rax)
    movups %xmm3, 184(%rax)
    .irp at, 0, 8, 16, 24
    mov \at(%rsp), %rcx
    mov %rcx, 200+\at(%rax)
    .endr
    add $40, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

    # What follows a short instruction fixes where its jump can go: 1.9, 1.1 and 0.5 GiB below.
    .macro site after:req, instruction:vararg
771:
    \instruction
    \after
    jmp machine_done
    .pushsection .data.rel.ro, "aw"
    .quad 771b, 772f
    .popsection
    .pushsection .rodata
772:
    .asciz "\instruction"
    .popsection
    .endm

    .pushsection .data.rel.ro, "aw"
    .balign 8
    .globl rewrite_sites
rewrite_sites:
    .popsection
    site "nop", movq 3(%rdi), %rax
    site "movl $0x112233e0, %r10d", movl %eax, (%rdi)
    site "movl $0x112233e0, %r10d", movq (%rdi), %rdx
    site "nop", movsd %xmm0, 8(%rdi)
    site "nop", addsd 16(%rdi,%rsi,8), %xmm1
    site "nop", adcq %rdx, 24(%rdi)
    site "nop", sbbq 24(%rdi,%rsi), %rax
    site "nop", lock xaddq %rcx, 32(%rdi)
    site "nop", imull $77, 40(%rdi), %ecx
    site "nop", movq 5(%rsp), %rcx
    site "nop", addq %rcx, 11(%rsp)
    site "nop", movl rewrite_static+1(%rip), %eax
    site "nop", addl $0x12345, rewrite_static+6(%rip)
    site "nop", movw $0x1234, 5(%rdi)
    site "nop", cmpl %eax, 9(%rdi)
    site "fstp %st(0)", fildl 4(%rdi)
    site "fstp %st(0)", fildll 8(%rdi)
    site "nop", cmovcq 16(%rdi), %rax
    site "nop", cmovsl 16(%rdi,%rsi,2), %ecx
    site "nop", mulq 8(%rdi)
    site "nop", xchgq %rax, 8(%rdi)
    site "nop", lock cmpxchgq %rdx, 8(%rdi)
    site "nop", shll %cl, 12(%rdi)
    site "nop", rclq 12(%rdi)
    site "nop", movzwl 7(%rdi), %r9d
    site "nop", movswq 7(%rdi,%r8), %r15
    site "nop", btsl $5, 8(%rdi)
    site "nop", movss 20(%rdi), %xmm2
    site "nop", ucomisd 20(%rdi), %xmm0
    site "nop", cvtsi2sdl 20(%rdi), %xmm3
    site "nop", movhps 20(%rdi), %xmm3
    site "nop", negq 1000(%rdi)
    site "nop", notl -1000(%rdi)
    site "nop", incl (%rdi,%rsi,4)
    site "nop", movq %rsp, 16(%rdi)
    site "nop", movsbq 16(%rdi), %rax
    site "nop", movq 0x10(%rcx,%rdi), %rcx
    site "nop", pextrq $1, %xmm1, 32(%rdi)
    .pushsection .data.rel.ro, "aw"
    .globl rewrite_sites_end
rewrite_sites_end:
    .popsection

    .globl two_neighbours, first_neighbour, second_neighbour
two_neighbours:
    xorps %xmm0, %xmm0
first_neighbour:
    addsd (%rdi), %xmm0
second_neighbour:
    addsd 8(%rdi), %xmm0
    nop
    ret
    .fill 32, 1, 0x90

    .globl add_in_a_loop, loop_load
add_in_a_loop:
    xorl %eax, %eax
    xorl %edx, %edx
1:  test %rsi, %rsi
    je 2f
loop_load:
    movl (%rdi), %edx
    movl $0x112233e0, %r10d
    add %rdx, %rax
    dec %rsi
    jmp 1b
2:  ret
    .fill 32, 1, 0x90
)asm");

#endif
