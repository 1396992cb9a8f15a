// Generated code under a memory protection key, as V8 keeps it: the program may read it, its signal handlers may not. The
// handlers print which rights they have, and all of them must be as nobody had read anything in between.
#define _GNU_SOURCE
#include "unaligned.h"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

// do sum = *(const int*)(data + 1); while (--count);
static const unsigned char loads[] = {0x8b, 0x47, 0x01, 0xff, 0xce, 0x75, 0xf9, 0xc3};

static int key;
static volatile int in_handler = -1;

static void note(int number) {
    (void)number;
    in_handler = pkey_get(key);
}

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void) {
    key = pkey_alloc(0, 0);
    if (key < 0) {
        puts("no protection keys here");
        return 77;
    }
    unsigned char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char* code = page + 64;
    memcpy(code, loads, sizeof loads);
    if (pkey_mprotect(page, 4096, PROT_READ | PROT_EXEC, key) != 0)
        return 1;
    int (*load)(const void*, int);
    memcpy(&load, &code, sizeof load);
    _Alignas(8) static char data[16];
    data[1] = 42, data[4] = 7;
    int sum = 0;
    for (int i = 0; i < 2000; ++i)
        sum += load(data, 1) & 0xff;
    const double begin = cpu_seconds();
    while (cpu_seconds() < begin + 0.3) // timers and ticks find it there
        load(data + 3, 1000000);
    sum += load(data, 2000) & 0xff;
    signal(SIGALRM, note);
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    const double before = cpu_seconds();
    while (in_handler < 0 && cpu_seconds() < before + 2) // a signal between an access and its count
        sum += (load(data, 50) & 0xff) == 42 ? 0 : 1;
    setitimer(ITIMER_REAL, &never, NULL);
    printf("sum %d, code %d, rights %d, of the timer's handler %d\n", sum, code[0], pkey_get(key), in_handler);
    const int numbers[] = {SIGUSR1, SIGTRAP, SIGBUS};
    for (int i = 0; i < 3; ++i) {
        signal(numbers[i], note);
        in_handler = -1;
        touch(100);
        raise(numbers[i]);
        printf("%d: of the handler %d, afterwards %d\n", numbers[i], in_handler, pkey_get(key));
    }
    in_handler = -1;
    __asm__ volatile("int3");
    printf("breakpoint: of the handler %d, afterwards %d\n", in_handler, pkey_get(key));
    return 0;
}
