/* Preloaded: a file system without locks, such as Lustre that is mounted noflock. */
#include <errno.h>
#include <stdlib.h>

int flock(int descriptor, int operation) {
    (void)descriptor;
    (void)operation;
    errno = getenv("NO_FLOCK_ERROR") ? atoi(getenv("NO_FLOCK_ERROR")) : ENOSYS;
    return -1;
}
