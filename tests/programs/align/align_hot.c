// usage: align_hot THREADS N. Each thread makes N unaligned loads and N unaligned read-modify-writes, while a timer's
// handler interrupts them anywhere and makes unaligned loads of its own. Prints what was computed.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static _Alignas(64) char shared[64] = {0, 1};
static volatile uint64_t handler_sum;
static long count;

__attribute__((noinline, noclone)) uint64_t hot_load(const volatile uint64_t* at) { return *at; }
__attribute__((noinline, noclone)) void hot_add(volatile int32_t* at) { *at += 3; }
__attribute__((noinline, noclone)) uint64_t load_in_handler(const volatile uint32_t* at) { return *at; }

static void on_timer(int number) {
    (void)number;
    handler_sum += load_in_handler((uint32_t*)(shared + 1));
}

static void* work(void* sum) {
    _Alignas(64) char own[128] = {0};
    for (long i = 0; i < count; ++i) {
        *(uint64_t*)sum += hot_load((uint64_t*)(shared + 1));
        hot_add((int32_t*)(own + 62)); // over a line
    }
    *(uint64_t*)sum += (uint64_t) * (volatile int32_t*)(own + 62);
    return NULL;
}

int main(int arguments, char** argument) {
    enum { kMost = 64 };
    static uint64_t sums[kMost];
    static pthread_t threads[kMost];
    const int number = arguments > 1 ? atoi(argument[1]) : 2;
    count = arguments > 2 ? atol(argument[2]) : 1000;
    signal(SIGALRM, on_timer);
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < number && i < kMost; ++i)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    uint64_t sum = 0;
    for (int i = 0; i < number && i < kMost; ++i) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
