/* Works in a signal handler half of the time, and asks for the time through the kernel's vDSO in both halves. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned sink;

static void work(int rounds) {
    for (int i = 0; i < rounds; ++i) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        for (unsigned j = 0; j < 20; ++j)
            sink += j * (unsigned)now.tv_nsec;
    }
}

static void handle(int number) {
    (void)number;
    work(20000);
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGPROF, &action, NULL);
    const struct itimerval every = {{0, 4000}, {0, 4000}};
    setitimer(ITIMER_PROF, &every, NULL);
    for (;;)
        work(1000);
}
