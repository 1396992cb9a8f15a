/* Prints the name of each signal it gets, and ends with status 3 on SIGTERM. Says "ready" first. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGTERM, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; ++i)
        sigaddset(&set, watched[i]);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    printf("ready\n");
    fflush(stdout);
    while (1) {
        siginfo_t info;
        const int signal = sigwaitinfo(&set, &info);
        if (signal < 0)
            continue;
        if (signal == SIGRTMIN + 1)
            printf("RTMIN+1 %d\n", info.si_value.sival_int);
        else
            printf("%s\n", sigabbrev_np(signal));
        fflush(stdout);
        if (signal == SIGTERM)
            return 3;
    }
}
