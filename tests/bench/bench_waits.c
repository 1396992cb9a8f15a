// Threads that wait for one another, with as much work each time as is asked for; prints wall nanoseconds each.
//
// usage: bench_waits switches COUNT ROUNDS   a token that two threads on one CPU hand to each other COUNT times, with ROUNDS of
//                                            work between two switches
//        bench_waits lock COUNT              locking and unlocking a mutex that nobody else uses
//        bench_waits contended COUNT         COUNT times each by two threads, with work inside and outside the mutex
//        bench_waits regions COUNT           parallel regions of OpenMP with little work
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t turns[2];
static long count, rounds;
static volatile double sink;

static double wall_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void work(long steps) {
    double value = 1;
    for (long step = 0; step < steps; ++step)
        value = value * 0.999 + (double)step;
    sink = value;
}

static void* hand_over(void* argument) {
    const long own = (long)argument;
    for (long i = own; i < count; i += 2) {
        sem_wait(&turns[own]);
        work(rounds);
        sem_post(&turns[1 - own]);
    }
    return NULL;
}

static void* contend(void* argument) {
    (void)argument;
    for (long i = 0; i < count; ++i) {
        pthread_mutex_lock(&mutex);
        work(1000);
        pthread_mutex_unlock(&mutex);
        work(500);
    }
    return NULL;
}

static void on_two_threads(void* (*function)(void*)) {
    pthread_t other;
    if (pthread_create(&other, NULL, function, (void*)1L))
        exit(1);
    function((void*)0L);
    pthread_join(other, NULL);
}

// On one CPU each turn is one switch, however fast another CPU would wake up.
static void stay_here(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void lock_alone(void) {
    for (long i = 0; i < count; ++i) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void open_regions(void) {
    for (long i = 0; i < count; ++i)
#pragma omp parallel num_threads(2)
        work(100);
}

int main(int argument_count, char** arguments) {
    if (argument_count < 3)
        return 2;
    const char* what = arguments[1];
    count = atol(arguments[2]);
    rounds = argument_count > 3 ? atol(arguments[3]) : 0;
    sem_init(&turns[0], 0, 1);
    sem_init(&turns[1], 0, 0);
    const double begin = wall_ns();
    if (!strcmp(what, "switches")) {
        stay_here();
        on_two_threads(hand_over);
    } else if (!strcmp(what, "contended"))
        on_two_threads(contend);
    else if (!strcmp(what, "lock"))
        lock_alone();
    else if (!strcmp(what, "regions"))
        open_regions();
    else
        return 2;
    printf("%.2f\n", (wall_ns() - begin) / (double)count);
    return 0;
}
