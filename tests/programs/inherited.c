/* Prints everything that a program inherits and could notice a wrapper by. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    printf("dispositions");
    for (int signal = 1; signal < 65; ++signal) {
        struct sigaction action;
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf(" %d=%s", signal, action.sa_handler == SIG_IGN ? "ignored" : "handled");
    }
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("\nmask");
    for (int signal = 1; signal < 65; ++signal)
        if (sigismember(&mask, signal))
            printf(" %d", signal);
    int open_files[1024], count = 0;
    DIR* folder = opendir("/proc/self/fd");
    for (struct dirent* entry; folder && (entry = readdir(folder)) && count < 1024;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder))
            open_files[count++] = atoi(entry->d_name);
    printf("\ndescriptors");
    for (int i = 0; i < count; ++i)
        printf(" %d", open_files[i]);
    for (int resource = 0; resource < 16; ++resource) {
        struct rlimit limit;
        getrlimit(resource, &limit);
        printf("\nlimit %d: %lld %lld", resource, (long long)limit.rlim_cur, (long long)limit.rlim_max);
    }
    int death_signal = -1, subreaper = -1;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    const mode_t mask_of_files = umask(0);
    printf("\nnice %d umask %o group %d session %d death signal %d dumpable %d subreaper %d\n",
           getpriority(PRIO_PROCESS, 0), (unsigned)mask_of_files, (int)getpgrp(), (int)getsid(0), death_signal,
           prctl(PR_GET_DUMPABLE), subreaper);
    return 0;
}
