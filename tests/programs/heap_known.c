// Allocates in ways whose counts are known exactly: heap_known SCENARIO N. Each scenario allocates in functions of
// its own, which lie at multiples of 1024 bytes and are printed as "name address", so that a test can tell which
// recorded paths are theirs.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, aligned(1024)))
#define USE(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")
#define TOLD_MAX 8

static const char* told_names[TOLD_MAX];
static void* told_addresses[TOLD_MAX];
static int told;
static void tell(const char* name, void* function) {
    told_names[told] = name;
    told_addresses[told++] = function;
}

APART void pairs(long n) {
    for (long i = 0; i < n; ++i) {
        void* block = malloc(100);
        USE(block);
        free(block);
    }
}

static void* kept[100000];
APART void leak(long n) {
    for (long i = 0; i < n; ++i)
        kept[i] = malloc(1000);
}

APART void mountain(long n) { // largest in the middle
    for (long i = 0; i < n; ++i)
        kept[i] = malloc(50000);
    for (long i = 0; i < n; ++i)
        free(kept[i]);
}
APART void plain(long n) { // lives on beside the mountain, and grows after it
    for (long i = 0; i < n; ++i)
        USE(malloc(2000));
}

APART void grow(long n) {
    void* block = NULL;
    for (long i = 1; i <= n; ++i)
        block = realloc(block, (size_t)i * 16);
    void* refused = realloc(block, SIZE_MAX / 2);
    if (refused)
        block = refused;
    free(block);
}

APART void aligned(long n) {
    for (long i = 0; i < n; ++i) {
        void* block = NULL;
        if (posix_memalign(&block, 64, 100) == 0)
            free(block);
        free(aligned_alloc(64, 128));
        free(memalign(128, 200));
        free(valloc(300));
        free(calloc(7, 30));
        free(reallocarray(NULL, 5, 40));
    }
}

APART void odd(void) { // 0 bytes, nothing to free, more than there is, more than a number holds
    free(malloc(0));
    free(NULL);
    volatile size_t huge = SIZE_MAX / 2;
    USE(malloc(huge));
    USE(calloc(huge, 4));
}

static int pipe_ends[2];
APART void produce(long n) {
    for (long i = 0; i < n; ++i) {
        void* block = malloc(64 + (size_t)(i % 7) * 16);
        if (write(pipe_ends[1], &block, sizeof block) != sizeof block)
            abort();
    }
}
static void* consume(void* unused) {
    void* block;
    while (read(pipe_ends[0], &block, sizeof block) == sizeof block && block)
        free(block);
    return unused;
}

static long each;
APART void* churn(void* unused) {
    void* ring[32] = {0};
    for (long i = 0; i < each; ++i) {
        free(ring[i % 32]);
        ring[i % 32] = malloc((size_t)(i % 400) + 1);
    }
    for (int i = 0; i < 32; ++i)
        free(ring[i]);
    return unused;
}

APART void large(long n) {
    for (long i = 0; i < n; ++i) {
        void* block = malloc(3 << 20);
        USE(block);
        free(block);
        void* map = mmap(NULL, 5 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        map = mremap(map, 5 << 20, 7 << 20, MREMAP_MAYMOVE);
        munmap(map, 7 << 20);
    }
}

APART void mixed_sizes(long n) {
    for (long i = 0; i < n; ++i) {
        void* block = malloc((size_t)(i % 64 + 1) * 48);
        USE(block);
        if (i % 4)
            free(block);
    }
}

int main(int count, char** arguments) {
    const char* scenario = count > 1 ? arguments[1] : "";
    const long n = count > 2 ? atol(arguments[2]) : 1000;
    if (!strcmp(scenario, "pairs")) {
        tell("pairs", (void*)pairs);
        pairs(n);
    } else if (!strcmp(scenario, "leak")) {
        tell("leak", (void*)leak);
        leak(n);
    } else if (!strcmp(scenario, "peak")) {
        tell("plain", (void*)plain);
        tell("mountain", (void*)mountain);
        plain(n);
        mountain(n);
        plain(n);
    } else if (!strcmp(scenario, "grow")) {
        tell("grow", (void*)grow);
        grow(n);
    } else if (!strcmp(scenario, "aligned")) {
        tell("aligned", (void*)aligned);
        aligned(n);
    } else if (!strcmp(scenario, "odd")) {
        tell("odd", (void*)odd);
        odd();
    } else if (!strcmp(scenario, "handover")) {
        tell("produce", (void*)produce);
        pthread_t consumer;
        if (pipe(pipe_ends) || pthread_create(&consumer, NULL, consume, NULL))
            return 1;
        produce(n);
        void* end = NULL;
        if (write(pipe_ends[1], &end, sizeof end) != sizeof end)
            return 1;
        pthread_join(consumer, NULL);
    } else if (!strcmp(scenario, "churn")) {
        tell("churn", (void*)churn);
        pthread_t threads[8];
        each = n;
        for (int i = 0; i < 8; ++i)
            pthread_create(&threads[i], NULL, churn, NULL);
        for (int i = 0; i < 8; ++i)
            pthread_join(threads[i], NULL);
    } else if (!strcmp(scenario, "large")) {
        tell("large", (void*)large);
        large(n);
    } else if (!strcmp(scenario, "mixed")) {
        tell("mixed_sizes", (void*)mixed_sizes);
        mixed_sizes(n);
    } else if (!strcmp(scenario, "fork")) {
        tell("leak", (void*)leak);
        leak(n);
        const pid_t child = fork();
        if (child == 0) {
            for (long i = 0; i < n; ++i)
                free(kept[i]); // the parent's blocks: not a free of anything that the child allocated
            leak(2 * n);
        } else {
            waitpid(child, NULL, 0);
        }
    } else {
        fprintf(stderr, "usage: heap_known pairs|leak|peak|grow|aligned|odd|handover|churn|large|mixed|fork [N]\n");
        return 2;
    }
    for (int i = 0; i < told; ++i)
        printf("%s %p\n", told_names[i], told_addresses[i]);
    return 0;
}
