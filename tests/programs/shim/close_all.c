// Closes every descriptor but its output, counts those that were open, goes on with threads, and opens a file: it must get the lowest one.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* work(void* argument) {
    char name[16];
    snprintf(name, sizeof name, "worker%ld", (long)argument);
    for (int i = 0; i < 20; ++i)
        pthread_setname_np(pthread_self(), name); // makes the trace grow
    return argument;
}

int main(void) {
    int open_descriptors = 0;
    for (int i = 3; i < 1024; ++i)
        open_descriptors += fcntl(i, F_GETFD) >= 0;
    printf("open at start: %d\n", open_descriptors);
    close(0);
    close_range(3, ~0U, 0);
    for (int i = 0; i < 100; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void*)(long)i);
        pthread_join(thread, NULL);
    }
    printf("lowest: %d\n", open("/dev/null", O_RDONLY));
    printf("next: %d\n", open("/dev/null", O_RDONLY));
    return 0;
}
