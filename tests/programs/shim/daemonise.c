// Becomes a daemon, makes a thread there and leaves a file that says so.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void* work(void* argument) { return argument; }

int main(int count, char** arguments) {
    if (count < 2 || daemon(1, 0) != 0)
        return 2;
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    char ready[4096];
    snprintf(ready, sizeof ready, "%s.part", arguments[1]);
    FILE* file = fopen(ready, "w");
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    rename(ready, arguments[1]);
    return 0;
}
