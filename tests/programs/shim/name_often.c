// Names itself as often as the argument says: a record and a text each, to fill a trace file.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** arguments) {
    const int times = count > 1 ? atoi(arguments[1]) : 1000;
    for (int i = 0; i < times; ++i) {
        char name[16];
        snprintf(name, sizeof name, "name %d", i);
        pthread_setname_np(pthread_self(), name);
    }
    printf("named %d times\n", times);
    fflush(stdout);
    if (count > 2)
        pause();
    return 0;
}
