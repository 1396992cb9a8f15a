// Threads that end in every way: return, pthread_exit, cancellation, C11; one detached; one creation that fails.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

static pthread_key_t key;

static void key_destructor(void* block) { free(block); }

static void* returns(void* argument) {
    pthread_setspecific(key, malloc(100));
    return argument;
}

static void* exits(void* argument) {
    pthread_setname_np(pthread_self(), "exiting");
    pthread_exit(argument);
}

static void clean_up(void* argument) { printf("cleaned up %s\n", (const char*)argument); }

static void* waits(void* argument) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); // until the clean-up is in place
    pthread_cleanup_push(clean_up, argument);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
}

static int standard(void* argument) { return (int)(intptr_t)argument; }

int main(void) {
    pthread_t threads[3];
    pthread_key_create(&key, key_destructor);
    pthread_create(&threads[0], NULL, returns, (void*)1);
    pthread_create(&threads[1], NULL, exits, (void*)2);
    pthread_create(&threads[2], NULL, waits, "after cancellation");
    for (int i = 0; i < 3; ++i) {
        void* result;
        if (i == 2)
            pthread_cancel(threads[2]);
        pthread_join(threads[i], &result);
        printf("%d: %ld\n", i, (long)result);
    }
    thrd_t c11;
    int value = 0;
    thrd_create(&c11, standard, (void*)7);
    thrd_join(c11, &value);
    printf("C11: %d\n", value);

    pthread_attr_t impossible;
    pthread_attr_init(&impossible);
    pthread_attr_setstacksize(&impossible, (size_t)1 << 46);
    pthread_t never;
    printf("impossible: %d\n", pthread_create(&never, &impossible, returns, NULL) == EAGAIN);
    return 0;
}
