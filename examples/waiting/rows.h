// A triangle of numbers: row r has r + 1 of them. Two threads sweep it again and again, and meet after each sweep.
#pragma once

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kRows = 1200 };

static pthread_barrier_t g_swept;
static double g_rows[kRows];
static int g_sweeps = 240;

static void sweep_row(int row) {
    double value = row;
    for (int column = 0; column <= row; column++)
        value = value * 0.999 + sqrt(value + column);
    g_rows[row] += value;
}

static void run_threads(int argc, char** argv, void* (*sweep)(void*)) {
    pthread_t threads[kThreads];
    if (argc > 1)
        g_sweeps = atoi(argv[1]);
    pthread_barrier_init(&g_swept, NULL, kThreads);
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, sweep, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    double sum = 0;
    for (int row = 0; row < kRows; row++)
        sum += g_rows[row];
    printf("%.3f\n", sum);
}
