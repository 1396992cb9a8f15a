/* Preloaded into plumb, which crashes in the function that CRASH_IN names: before the program starts (signalfd), while it
   runs (ppoll), when it has ended (renameat), in the report (isatty). By an abort if CRASH_BY is "abort". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended;

static void crash_in(const char* function) {
    const char* const wanted = getenv("CRASH_IN");
    if (!wanted || strcmp(wanted, function) != 0)
        return;
    if (getenv("CRASH_BY"))
        abort();
    volatile int* volatile nowhere = NULL;
    *nowhere = 0;
}

int signalfd(int fd, const sigset_t* mask, int flags) {
    crash_in("signalfd");
    return ((int (*)(int, const sigset_t*, int))dlsym(RTLD_NEXT, "signalfd"))(fd, mask, flags);
}

int ppoll(struct pollfd* polled, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
    crash_in("ppoll");
    return ((int (*)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))dlsym(RTLD_NEXT, "ppoll"))(
        polled, count, timeout, mask);
}

pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage) {
    const pid_t found = ((pid_t(*)(pid_t, int*, int, struct rusage*))dlsym(RTLD_NEXT, "wait4"))(pid, status, options, usage);
    ended |= found > 0;
    return found;
}

int renameat(int from, const char* former, int to, const char* name) {
    if (ended)
        crash_in("renameat");
    return ((int (*)(int, const char*, int, const char*))dlsym(RTLD_NEXT, "renameat"))(from, former, to, name);
}

int isatty(int fd) {
    if (ended)
        crash_in("isatty");
    return ((int (*)(int))dlsym(RTLD_NEXT, "isatty"))(fd);
}
