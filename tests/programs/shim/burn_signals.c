// Burns CPU time: three quarters in burn_long and one in burn_short in the first thread, in system calls in a second,
// and in burn_blocked in a third that blocks all signals. Then prints what it used. With "take" it first claims every
// real-time signal for itself and raises each once.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int caught;

static void count_signal(int number) {
    (void)number;
    ++caught;
}

static double cpu_seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static volatile double sink;

#define BURN(name)                                                                                           \
    __attribute__((noinline)) void name(double seconds) {                                                    \
        const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;                                   \
        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)                                                   \
            for (int i = 0; i < 200000; ++i)                                                                 \
                sink = sink * 0.5 + i;                                                                       \
    }
BURN(burn_long)
BURN(burn_short)
BURN(burn_blocked)

static void* burn_in_kernel(void* argument) {
    char page[65536];
    FILE* source = fopen("/dev/zero", "r");
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.3;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 100; ++i)
            if (read(fileno(source), page, sizeof page) < 0)
                return NULL;
    fclose(source);
    return argument;
}

static void* burn_without_signals(void* argument) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn_blocked(0.3);
    return argument;
}

int main(int count, char** arguments) {
    if (count > 1 && !strcmp(arguments[1], "take")) {
        for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
            struct sigaction former, action = {.sa_handler = count_signal};
            sigaction(number, NULL, &former);
            if (former.sa_handler != SIG_DFL)
                printf("%d was taken\n", number);
            sigaction(number, &action, NULL);
            raise(number);
        }
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, burn_in_kernel, NULL);
    pthread_create(&threads[1], NULL, burn_without_signals, NULL);
    burn_long(0.6);
    burn_short(0.2);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    printf("caught %d\n", caught);
    return 0;
}
