// Uses up all descriptors and names itself often, so that the trace cannot be reopened to grow; frees them and names itself
// again, a second later.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void name_often(int times) {
    for (int i = 0; i < times; ++i)
        pthread_setname_np(pthread_self(), i % 2 ? "odd" : "even");
}

int main(void) {
    const struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    int last = -1;
    for (int next; (next = open("/dev/null", O_RDONLY)) >= 0;)
        last = next;
    printf("last: %d\n", last);
    name_often(5000);
    printf("still none: %d\n", open("/dev/null", O_RDONLY));
    for (int descriptor = 3; descriptor <= last; ++descriptor)
        close(descriptor);
    sleep(1);
    for (int i = 0; i < 3000; ++i)
        pthread_setname_np(pthread_self(), "free again");
    return 0;
}
