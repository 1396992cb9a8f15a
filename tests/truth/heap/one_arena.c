/* Threads that hand out short messages. Planted: all of them share one arena of malloc, and the messages are larger than
   its cache for each thread holds. Cured: each thread keeps its messages. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 2500000, KEPT = 32 };

static void* work(void* argument) {
    unsigned long sum = 0, state = (unsigned long)argument + 1;
    char* messages[KEPT] = {0};
    size_t sizes[KEPT] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        const int at = i % KEPT;
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        const size_t size = 1200 + (state >> 33) % 2000;
#ifdef CURED
        if (!messages[at])
            messages[at] = malloc(3200);
#else
        free(messages[at]);          /* planted: heap-contention */
        messages[at] = malloc(size); /* planted: heap-contention */
#endif
        sizes[at] = size;
        messages[at][0] = (char)i;
        for (int k = 0; k < 40; k++)
            sum = sum * 31 + (unsigned char)messages[at][0] + sizes[(at + k) % KEPT];
    }
    for (int i = 0; i < KEPT; i++)
        free(messages[i]);
    return (void*)sum;
}

int main(void) {
    mallopt(M_ARENA_MAX, 1);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void*)i);
    unsigned long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        void* result;
        pthread_join(threads[i], &result);
        sum += (unsigned long)result;
    }
    printf("%lu\n", sum);
    return 0;
}
