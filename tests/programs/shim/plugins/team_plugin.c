// A module that brings an OpenMP runtime along: see opens_team.c.
#include <omp.h>

__attribute__((visibility("default"))) long team_sum(long count) {
    long sum = 0;
    for (long round = 0; round < count; round++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
#pragma omp critical
            sum += omp_get_thread_num() + 1;
        }
    }
    return sum;
}
