/* Preloaded: a file system without locks, such as Lustre that is mounted noflock. With NO_FLOCK_DIE_HOLDING the process is
 * killed while it holds what stands in for a lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int flock(int descriptor, int operation) {
    (void)descriptor;
    (void)operation;
    errno = getenv("NO_FLOCK_ERROR") ? atoi(getenv("NO_FLOCK_ERROR")) : ENOSYS;
    return -1;
}

int unlinkat(int folder, const char* name, int flags) {
    if (getenv("NO_FLOCK_DIE_HOLDING") && strcmp(name, ".lock-held") == 0)
        kill(getpid(), SIGKILL);
    return (int)syscall(SYS_unlinkat, folder, name, flags);
}
