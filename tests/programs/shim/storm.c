// Threads that load and unload a library, threads that create threads, and forks in the middle of it, all at once.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
static atomic_int failures;

static void* nothing(void* argument) {
    free(malloc(64));
    return argument;
}

static void* load(void* argument) {
    while (!stop) {
        void* library = dlopen("libplumb_test_plugin.so", RTLD_NOW);
        const int* answer = library ? dlsym(library, "plugin_answer") : NULL;
        failures += !answer || *answer != 42;
        if (library)
            dlclose(library);
    }
    return argument;
}

static void* create(void* argument) {
    while (!stop) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
        else
            ++failures;
    }
    return argument;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        pthread_create(&threads[i], NULL, i % 2 ? load : create, NULL);
    for (int i = 0; i < 60; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            const int error = pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL);
            _exit(error ? 1 : 0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        failures += status != 0;
    }
    stop = 1;
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    printf("failures: %d\n", (int)failures);
    return 0;
}
