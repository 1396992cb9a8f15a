/* Advances five large fields. Planted: each operation sweeps over its arrays by itself, so everything comes from memory
   again and again, from both threads. Cured: one sweep does all of it in pieces that stay in the cache. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 12000000, THREADS = 2, STEPS = 40, PIECE = 4000 };
static double *g_density, *g_speed, *g_energy, *g_pressure, *g_flux;

static void sweep(size_t from, size_t to) {
#pragma GCC ivdep
    for (size_t i = from; i < to; i++)
        g_pressure[i] = 0.4 * g_energy[i] * g_density[i]; /* planted: arrays-refetched */
    for (size_t i = from; i < to; i++)
        g_flux[i] = g_density[i] * g_speed[i]; /* planted: arrays-refetched */
    for (size_t i = from; i < to; i++)
        g_speed[i] = g_speed[i] - 0.001 * g_pressure[i]; /* planted: arrays-refetched */
    for (size_t i = from; i < to; i++)
        g_energy[i] = g_energy[i] + 0.001 * g_flux[i]; /* planted: arrays-refetched */
    for (size_t i = from; i < to; i++)
        g_density[i] = g_density[i] * 0.999 + g_flux[i] * 1e-6; /* planted: arrays-refetched */
}

static void* work(void* argument) {
    const size_t part = SIZE / THREADS, from = (size_t)argument * part, to = from + part;
    for (int step = 0; step < STEPS; step++) {
#ifdef CURED
        for (size_t at = from; at < to; at += PIECE)
            sweep(at, at + PIECE < to ? at + PIECE : to);
#else
        sweep(from, to);
#endif
    }
    return NULL;
}

int main(void) {
    double** const fields[] = {&g_density, &g_speed, &g_energy, &g_pressure, &g_flux};
    for (int field = 0; field < 5; field++) {
        *fields[field] = malloc(SIZE * sizeof(double));
        for (size_t i = 0; i < SIZE; i++)
            (*fields[field])[i] = 1 + (double)(i % 100) * 0.01 * field;
    }
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%g\n", g_density[77] + g_energy[SIZE - 1]);
    return 0;
}
