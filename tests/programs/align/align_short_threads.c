// usage: align_short_threads THREADS. One after another, each with a hundred unaligned loads in load_in_thread.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Alignas(64) char area[64];

__attribute__((noinline)) int32_t load_in_thread(const volatile int32_t* at) { return *at; }

static void* work(void* sum) {
    for (int i = 0; i < 100; ++i)
        *(int64_t*)sum += load_in_thread((int32_t*)(area + 1));
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count > 1 ? atoi(arguments[1]) : 1000;
    int64_t sum = 0;
    for (int i = 0; i < threads; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &sum) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    printf("%lld\n", (long long)sum);
    return 0;
}
