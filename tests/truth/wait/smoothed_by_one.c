// A pool computes the rows of a field; between two of its steps the first thread smooths the field, and the pool waits for the
// next step. Planted: the smoothing is done by one thread, although its rows do not depend on one another. Cured: the pool
// does it, too.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kRows = 64, kColumns = 4000, kRounds = 20 };

static double g_field[kRows][kColumns], g_smooth[kRows][kColumns];
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_begun = PTHREAD_COND_INITIALIZER, g_done = PTHREAD_COND_INITIALIZER;
static void (*g_work)(int row);
static int g_next = kRows, g_finished, g_over;

__attribute__((noinline)) static void compute_row(int row) {
    for (int column = 0; column < kColumns; column++)
        for (int step = 0; step < 40; step++)
            g_field[row][column] = sqrt(g_field[row][column] + row + step);
}

__attribute__((noinline)) static void smooth_row(int row) {
    for (int column = 1; column < kColumns - 1; column++)
        for (int step = 0; step < 40; step++)
            g_smooth[row][column] = sqrt(g_smooth[row][column] + g_field[row][column - 1] + g_field[row][column + 1]);
}

static void* work(void* unused) {
    pthread_mutex_lock(&g_lock);
    for (;;) {
        while (g_next == kRows && !g_over)
            pthread_cond_wait(&g_begun, &g_lock);
        if (g_over)
            break;
        const int row = g_next++;
        pthread_mutex_unlock(&g_lock);
        g_work(row);
        pthread_mutex_lock(&g_lock);
        if (++g_finished == kRows)
            pthread_cond_signal(&g_done);
    }
    pthread_mutex_unlock(&g_lock);
    return unused;
}

static void let_work(void (*on_row)(int row)) {
    pthread_mutex_lock(&g_lock);
    g_work = on_row;
    g_next = g_finished = 0;
    pthread_cond_broadcast(&g_begun);
    while (g_finished < kRows)
        pthread_cond_wait(&g_done, &g_lock);
    pthread_mutex_unlock(&g_lock);
}

__attribute__((noinline)) static void smooth_field(void) {
#ifdef CURED
    let_work(smooth_row);
#else
    for (int row = 0; row < kRows; row++)
        smooth_row(row); // planted: serial-part
#endif
}

int main(void) {
    pthread_t threads[kThreads];
    for (int thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, work, NULL);
    for (int round = 0; round < kRounds; round++) {
        let_work(compute_row);
        smooth_field();
    }
    pthread_mutex_lock(&g_lock);
    g_over = 1;
    pthread_cond_broadcast(&g_begun);
    pthread_mutex_unlock(&g_lock);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    printf("%.6f\n", g_field[1][1] + g_smooth[2][2]);
    return 0;
}
