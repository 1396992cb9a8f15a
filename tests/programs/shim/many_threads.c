// As many threads as the argument says, all alive at once, each on the smallest stack.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_here;

static void* meet(void* argument) {
    pthread_barrier_wait(&all_here);
    return argument;
}

int main(int count, char** arguments) {
    const int wanted = count > 1 ? atoi(arguments[1]) : 4096;
    pthread_t* threads = calloc((size_t)wanted, sizeof *threads);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_barrier_init(&all_here, NULL, (unsigned)wanted + 1);
    for (int i = 0; i < wanted; ++i) {
        const int error = pthread_create(&threads[i], &attributes, meet, (void*)(long)i);
        if (error != 0) {
            printf("thread %d: error %d\n", i, error);
            return 2;
        }
    }
    pthread_barrier_wait(&all_here);
    long sum = 0;
    for (int i = 0; i < wanted; ++i) {
        void* result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("%d threads, sum %ld\n", wanted, sum);
    return 0;
}
