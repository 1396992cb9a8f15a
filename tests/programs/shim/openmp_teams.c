// OpenMP with GCC's runtime, each use of it by a word of its own; what was computed is printed.
//
//     openmp_teams WORD [COUNT]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void work_us(uint64_t length) { // of wall time
    const uint64_t begin = now_us();
    while (now_us() - begin < length)
        ;
}

static long sum_of_team(void) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    return sum;
}

// COUNT regions of each kind that the compiler calls the runtime for.
static void regions(long count) {
    long sum = 0;
    for (long round = 0; round < count; round++) {
        sum += sum_of_team();
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma omp parallel sections reduction(+ : sum)
        {
#pragma omp section
            sum += 1;
#pragma omp section
            sum += 2;
        }
    }
    printf("%ld\n", sum);
}

// The last thread works 2 ms longer than the others.
static void late(long count) {
    for (long round = 0; round < count; round++) {
#pragma omp parallel
        work_us(omp_get_thread_num() == omp_get_num_threads() - 1 ? 3000 : 1000);
    }
    puts("late");
}

// The same before a barrier inside.
static void barriers(long count) {
#pragma omp parallel
    for (long round = 0; round < count; round++) {
        work_us(omp_get_thread_num() == 0 ? 3000 : 1000);
#pragma omp barrier
    }
    puts("barriers");
}

static void criticals(long count) {
    long sum = 0, unnamed = 0;
    double locked = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel
    for (long round = 0; round < count; round++) {
#pragma omp critical(adding)
        {
            work_us(1000);
            sum++;
        }
        omp_set_lock(&lock); // short: two of equal length would take turns, and nobody would wait
        work_us(100);
        locked += 1;
        omp_unset_lock(&lock);
#pragma omp critical
        unnamed++;
    }
    printf("%ld %ld %.0f\n", sum, unnamed, locked);
}

static void nested(long count) {
    long sum = 0;
    omp_set_max_active_levels(2);
    for (long round = 0; round < count; round++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(3) reduction(+ : sum)
        sum += omp_get_level();
    }
    printf("%ld\n", sum);
}

static long fibonacci(int n) {
    long left, right;
    if (n < 2)
        return n;
#pragma omp task shared(left) firstprivate(n)
    left = fibonacci(n - 1);
    right = fibonacci(n - 2);
#pragma omp taskwait
    return left + right;
}

static void tasks(long count) {
    long sum = 0;
    for (long round = 0; round < count; round++) {
#pragma omp parallel
#pragma omp single
        {
            sum += fibonacci(12);
#pragma omp taskloop grainsize(2)
            for (int i = 0; i < 20; i++) {
#pragma omp atomic
                sum += i;
            }
        }
    }
    printf("%ld\n", sum);
}

static void cancel(long count) {
    long found = 0;
    for (long round = 0; round < count; round++) {
#pragma omp parallel
        {
#pragma omp for
            for (int i = 0; i < 1000; i++) {
                if (i == 500) {
#pragma omp atomic
                    found++;
#pragma omp cancel for
                }
            }
        }
    }
    printf("%ld\n", found);
}

static void* start_regions(void* count) {
    long sum = 0;
    for (long round = 0; round < (long)count; round++)
        sum += sum_of_team();
    return (void*)sum;
}

static void masters(long count) {
    pthread_t threads[3];
    long all = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, start_regions, (void*)count);
    for (int i = 0; i < 3; i++) {
        void* sum;
        pthread_join(threads[i], &sum);
        all += (long)sum;
    }
    printf("%ld\n", all);
}

// A child that was forked before its parent had a team has its own.
static void forks(long count) {
    const pid_t child = fork();
    long sum = 0;
    for (long round = 0; round < count; round++)
        sum += sum_of_team();
    if (child == 0)
        _exit(sum == 3 * count ? 7 : 8);
    int status = 0;
    waitpid(child, &status, 0);
    printf("%ld %d\n", sum, WEXITSTATUS(status));
}

// The process ends inside of a region.
static void ends(long count) {
    for (long round = 0; round < count; round++)
        sum_of_team();
    puts("ends");
    fflush(stdout);
#pragma omp parallel
    if (omp_get_thread_num() == 0)
        exit(3);
    else
        pause();
}

int main(int argument_count, char** arguments) {
    const char* const word = argument_count > 1 ? arguments[1] : "regions";
    const long count = argument_count > 2 ? atol(arguments[2]) : 10;
    const struct {
        const char* word;
        void (*run)(long);
    } uses[] = {{"regions", regions}, {"late", late},       {"barriers", barriers}, {"criticals", criticals},
                {"nested", nested},   {"tasks", tasks},     {"cancel", cancel},     {"masters", masters},
                {"forks", forks},     {"ends", ends}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (strcmp(word, uses[i].word) == 0) {
            uses[i].run(count);
            return 0;
        }
    return 2;
}
