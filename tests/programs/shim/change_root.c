// Moves its root to the folder given, drops the old one, and then writes much: the trace cannot grow there.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void* work(void* argument) {
    for (int i = 0; i < 400; ++i)
        pthread_setname_np(pthread_self(), "confined");
    return argument;
}

int main(int count, char** arguments) {
    if (count < 2 || chroot(arguments[1]) != 0 || chdir("/") != 0) {
        perror("chroot");
        return 2;
    }
    for (int i = 0; i < 100; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    printf("confined\n");
    return 0;
}
