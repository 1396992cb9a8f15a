// 64 threads, half of them with all signals blocked, counting without losing anything.
#include "unaligned.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static char shared_bytes[64];
static void* work(void* argument) {
    if ((uintptr_t)argument & 1) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
    char own[64] = {0};
    for (int i = 0; i < 400; ++i) {
        *(volatile uint32_t*)(own + 1) += 1;
        __atomic_fetch_add((uint32_t*)(shared_bytes + 3), 1, __ATOMIC_RELAXED);
    }
    uint32_t counted;
    memcpy(&counted, own + 1, 4);
    return (void*)(uintptr_t)counted;
}

int main(void) {
    pthread_t threads[64];
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < 64; ++i)
        pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < 64; ++i) {
        void* counted;
        pthread_join(threads[i], &counted);
        sum += (uintptr_t)counted;
    }
    uint32_t shared;
    memcpy(&shared, shared_bytes + 3, 4);
    printf("%lu %u\n", (unsigned long)sum, shared);
    return 0;
}
