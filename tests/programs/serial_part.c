// A program of known scaling, whatever the machine: SERIAL_MS in which one thread sleeps, and then PARALLEL_MS divided among
// THREADS that sleep; in the end each thread sleeps PER_OTHER_MS for each other one.
//
// usage: serial_part THREADS SERIAL_MS PARALLEL_MS [PER_OTHER_MS]
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static void sleep_ms(double ms) {
    struct timespec time = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};
    nanosleep(&time, NULL);
}

static void *share(void *ms) {
    sleep_ms(*(double *)ms);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    const int threads = atoi(argv[1]);
    if (threads < 1 || threads > 64)
        return 3;
    double ms = atof(argv[3]) / threads + (argc > 4 ? atof(argv[4]) * (threads - 1) : 0);
    sleep_ms(atof(argv[2]));
    pthread_t others[64];
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, share, &ms);
    share(&ms);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    return 0;
}
