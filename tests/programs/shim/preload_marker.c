// A preload of the program's own: counts thread creations and passes them on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int creations;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
    int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
    ++creations;
    return real(thread, attributes, routine, argument);
}

__attribute__((destructor)) static void tell(void) {
    if (creations)
        fprintf(stderr, "preload saw %d\n", creations);
}
