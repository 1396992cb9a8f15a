/* A 32-bit program without any library: writes the variables of its environment that begin with LD_ to its standard
   output, and leaves with status 41. */
    .globl _start
    .text
_start:
    movl (%esp), %eax             /* the number of arguments */
    leal 8(%esp,%eax,4), %esi     /* the environment behind them */
next:
    movl (%esi), %ecx
    addl $4, %esi
    testl %ecx, %ecx
    jz done
    cmpb $'L', (%ecx)
    jne next
    cmpb $'D', 1(%ecx)
    jne next
    cmpb $'_', 2(%ecx)
    jne next
    xorl %edx, %edx
length:
    incl %edx
    cmpb $0, (%ecx,%edx)
    jne length
    movb $'\n', (%ecx,%edx)       /* in its own copy of the environment, which is read no more */
    incl %edx
    movl $1, %ebx
    movl $4, %eax                 /* write */
    int $0x80
    jmp next
done:
    movl $41, %ebx
    movl $1, %eax                 /* exit */
    int $0x80
    .section .note.GNU-stack, "", @progbits
