/* Preloaded into plumb: no memory is left from the recorder's first wait on until the program has ended. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int armed;

int ppoll(struct pollfd* polled, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
    int (*real)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*) =
        (int (*)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))dlsym(RTLD_NEXT, "ppoll");
    armed = 1;
    return real(polled, count, timeout, mask);
}

pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage) {
    pid_t (*real)(pid_t, int*, int, struct rusage*) =
        (pid_t (*)(pid_t, int*, int, struct rusage*))dlsym(RTLD_NEXT, "wait4");
    const pid_t ended = real(pid, status, options, usage);
    if (ended > 0 && status && (WIFEXITED(*status) || WIFSIGNALED(*status)))
        armed = 0;
    return ended;
}

/* The recorder asks for memory in every look at /proc and in every record. */
void* _Znwm(size_t bytes) {
    if (armed) {
        void (*refuse)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv");
        if (refuse)
            refuse();
    }
    return malloc(bytes ? bytes : 1);
}
