// One thread works through its items and counts them in a shared table; another one logs the table to a file. Planted: it keeps
// the table's lock while the file is synced to disk, for which the worker waits. Cured: it copies the table under the lock.
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kItems = 6000, kSteps = 20000, kEntries = 512 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static double g_table[kEntries];
static int g_done;

static int write_out(int log, const double* table, int count) {
    if (pwrite(log, table, sizeof g_table, 0) != (ssize_t)sizeof g_table || fsync(log) != 0) // planted: lock-wait
        return -1;
    return count;
}

static void* keep_log(void* name) {
    const int log = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    for (int count = 0; log >= 0 && count < kItems;) {
        pthread_mutex_lock(&g_lock);
#ifdef CURED
        static double table[kEntries];
        memcpy(table, g_table, sizeof table);
        const int done = g_done;
        pthread_mutex_unlock(&g_lock);
        count = write_out(log, table, done);
#else
        count = write_out(log, g_table, g_done);
        pthread_mutex_unlock(&g_lock);
#endif
        if (count < 0)
            break;
        usleep(200); // the next look at the table may wait a little
    }
    close(log);
    return NULL;
}

__attribute__((noinline)) static double value_of(int item) {
    double value = item;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return floor(value);
}

int main(void) {
    char name[] = "table-XXXXXX";
    close(mkstemp(name));
    pthread_t logger;
    pthread_create(&logger, NULL, keep_log, name);
    for (int item = 0; item < kItems; item++) {
        const double value = value_of(item);
        pthread_mutex_lock(&g_lock);
        g_table[item % kEntries] += value;
        g_done = item + 1;
        pthread_mutex_unlock(&g_lock);
    }
    pthread_join(logger, NULL);
    double sum = 0;
    for (int entry = 0; entry < kEntries; entry++)
        sum += g_table[entry];
    printf("%.0f\n", sum);
    unlink(name);
    return 0;
}
