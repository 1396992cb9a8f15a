// usage: align_threads THREADS N. Each thread makes N unaligned increments of its own (a load and a store at once).
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long n;

__attribute__((noinline, noclone)) void increment(volatile int* at) { __asm__ volatile("incl %0" : "+m"(*at) : : "cc"); }

static void* work(void* unused) {
    char bytes[64] __attribute__((aligned(64))) = {0};
    for (long i = 0; i < n; ++i)
        increment((volatile int*)(bytes + 1));
    return unused;
}

int main(int count, char** arguments) {
    const int threads = count > 1 ? atoi(arguments[1]) : 4;
    n = count > 2 ? atol(arguments[2]) : 100;
    pthread_t handles[256];
    for (int i = 0; i < threads; ++i)
        if (pthread_create(&handles[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < threads; ++i)
        pthread_join(handles[i], NULL);
    puts("done");
    return 0;
}
