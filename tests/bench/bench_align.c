// What a benchmark of the alignment trap needs: a known number of unaligned loads at a known rate, and the time of them
// without the start and end of the process.
//   bench_align BYTES_OFF ROUNDS SPINS [generated]
// Each of ROUNDS rounds loads eight bytes once, BYTES_OFF bytes behind a multiple of 64, after SPINS steps of a dependent
// multiplication. With `generated` the same machine code runs from an anonymous mapping, as that of a just-in-time
// compiler does: code that belongs to no file is never rewritten. Compiled with -DFLOOR every load traps into a handler of
// the program's own that does nothing but clear the flag: what no tool that uses this trap can be below (a program of its
// own, because one whose code handles the flag is not watched). Prints CLOCK_MONOTONIC at the first round, and the
// wall and CPU nanoseconds of all rounds.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

typedef uint64_t (*Kernel)(const void* place, uint64_t rounds, uint64_t spins);

// rdi: place, rsi: rounds, rdx: spins. Position-independent, so that a copy does the same. The load is five bytes long
// and the product depends on it, so that no round begins before the last one's is done.
uint64_t bench_kernel(const void*, uint64_t, uint64_t);
extern const unsigned char bench_kernel_end[];
__asm__(".text\n.globl bench_kernel, bench_kernel_end\n.type bench_kernel, @function\n.p2align 6\n"
        "bench_kernel:\n.cfi_startproc\n"
        "movl $1, %eax\n"
        "1: movq %rdx, %rcx\n"
        "testq %rcx, %rcx\njz 3f\n"
        "2: imulq $69069, %rax, %rax\n"
        "decq %rcx\njnz 2b\n"
        "3: movq (%rdi), %r8\n"
        "xorq %r8, %rax\n"
        "decq %rsi\njnz 1b\n"
        "ret\n.cfi_endproc\n"
        "bench_kernel_end:\n.size bench_kernel, . - bench_kernel\n");

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#ifdef FLOOR
// The least that a handler can do.
void floor_entry(int, siginfo_t*, void*);
__attribute__((used)) void floor_handler(int number, siginfo_t* info, void* context);
__asm__(".text\n.type floor_entry, @function\nfloor_entry:\n"
        "pushfq\nandq $~0x40000, (%rsp)\npopfq\njmp floor_handler\n.size floor_entry, . - floor_entry\n");
void floor_handler(int number, siginfo_t* info, void* context) {
    (void)number, (void)info;
    ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~0x40000L;
}

static uint64_t floor_kernel(const void* place, uint64_t rounds, uint64_t spins) {
    struct sigaction action = {.sa_sigaction = floor_entry, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGBUS, &action, NULL);
    uint64_t sum = spins;
    for (; rounds > 0; --rounds) {
        uint64_t value;
        __asm__ volatile("lea -128(%%rsp), %%rsp\npushfq\norq $0x40000, (%%rsp)\npopfq\nlea 128(%%rsp), %%rsp\n"
                         "movq (%1), %0"
                         : "=r"(value)
                         : "r"(place)
                         : "memory", "cc");
        sum += value;
    }
    return sum;
}
#else
static Kernel generate(void) {
    const size_t bytes = (size_t)(bench_kernel_end - (const unsigned char*)(uintptr_t)bench_kernel);
    void* code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return NULL;
    memcpy(code, (const void*)(uintptr_t)bench_kernel, bytes);
    if (mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0)
        return NULL;
    return (Kernel)(uintptr_t)code;
}
#endif

int main(int argc, char** argv) {
    static _Alignas(64) unsigned char data[128];
    if (argc < 4)
        return 2;
    const unsigned long off = strtoul(argv[1], NULL, 10) % 64;
    const uint64_t rounds = strtoul(argv[2], NULL, 10), spins = strtoul(argv[3], NULL, 10);
#ifdef FLOOR
    const Kernel kernel = floor_kernel;
#else
    const Kernel kernel = argc > 4 && strcmp(argv[4], "generated") == 0 ? generate() : bench_kernel;
#endif
    if (!kernel || rounds == 0)
        return 2;
    const uint64_t wall = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    volatile uint64_t result = kernel(data + off, rounds, spins);
    (void)result;
    printf("%lu %lu %lu\n", (unsigned long)wall, (unsigned long)(nanoseconds(CLOCK_MONOTONIC) - wall),
           (unsigned long)(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu));
    return 0;
}
