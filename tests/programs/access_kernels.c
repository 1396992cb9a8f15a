// access_kernels KERNEL CPU_MILLISECONDS [OFFSET]: one loop over known arrays for that much CPU time. Prints where the
// loops' code is and where the arrays are: what sampled addresses must agree with. copy and read_only take 16 bytes at a time,
// OFFSET bytes off the beginning of a cache line; made_code runs a copy of read_only in memory that has no file, as
// compilers at run time do. loads reads four arrays in each round, of which number OFFSET (0 to 3) is large and read at random
// places: that is the one it waits for.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KERNEL __attribute__((noinline, section("access_kernels")))
extern char __start_access_kernels[], __stop_access_kernels[];

enum { kDoubles = 1 << 20, kRows = 512, kColumns = 2048, kNodes = 1 << 18, kCopied = 1 << 14 };

struct node {
    struct node* next;
    long filling[7];
};
typedef long long sixteen __attribute__((vector_size(16), aligned(1), may_alias));

KERNEL void triad(double* restrict a, const double* restrict b, const double* restrict c, double s) {
    for (size_t i = 0; i < kDoubles; ++i)
        a[i] = b[i] + s * c[i];
}

KERNEL void* chase(struct node* at, size_t steps) {
    for (size_t i = 0; i < steps; ++i)
        at = at->next;
    return at;
}

KERNEL double column_walk(const double* matrix) {
    double sum = 0;
    for (size_t column = 0; column < kColumns; ++column)
        for (size_t row = 0; row < kRows; ++row)
            sum += matrix[row * kColumns + column];
    return sum;
}

KERNEL void stencil(double* restrict to, const double* restrict from) {
    for (size_t row = 1; row + 1 < kRows; ++row)
        for (size_t column = 1; column + 1 < kColumns; ++column)
            to[row * kColumns + column] = 0.25 * (from[(row - 1) * kColumns + column] + from[(row + 1) * kColumns + column] +
                                                  from[row * kColumns + column - 1] + from[row * kColumns + column + 1]);
}

KERNEL void histogram(const int* values, int* counts) {
    for (size_t i = 0; i < kDoubles; ++i)
        counts[values[i]]++;
}

enum { kSmall = 512 }; // doubles: they stay in the first-level cache

KERNEL double loads(const double* first, const double* second, const double* third, const double* fourth,
                    const uint32_t* masks, uint32_t* place) {
    double sum = 0;
    uint32_t at = *place;
    for (size_t i = 0; i < kDoubles / 8; ++i) {
        at = at * 1664525 + 1013904223 + (uint32_t)(sum * 1e-300); // the next round waits for this one's loads
        const uint32_t far = at >> 4;
        sum += first[far & masks[0]] * 2 + second[far & masks[1]] * 3 + third[far & masks[2]] * 5 + fourth[far & masks[3]] * 7;
    }
    *place = at;
    return sum;
}

KERNEL void copy(char* to, const char* from) {
    for (size_t i = 0; i < kCopied; i += 16)
        *(sixteen*)(to + i) = *(const sixteen*)(from + i);
}

KERNEL long long read_only(const char* from) {
    sixteen sum = {0, 0};
    for (size_t i = 0; i < kCopied; i += 16)
        sum ^= *(const sixteen*)(from + i);
    return sum[0];
}

static void* array(const char* name, size_t bytes) {
    void* memory = aligned_alloc(4096, bytes);
    if (!memory)
        exit(2);
    memset(memory, 0, bytes);
    printf("array %s %p %zu\n", name, memory, bytes);
    return memory;
}

static struct node* ring_of_nodes(void) {
    struct node* nodes = array("nodes", kNodes * sizeof(struct node));
    uint32_t* order = malloc(kNodes * sizeof *order);
    for (uint32_t i = 0; i < kNodes; ++i)
        order[i] = i;
    srand(1);
    for (uint32_t i = kNodes - 1; i > 0; --i) {
        const uint32_t other = (uint32_t)rand() % (i + 1), mine = order[i];
        order[i] = order[other];
        order[other] = mine;
    }
    for (uint32_t i = 0; i < kNodes; ++i)
        nodes[order[i]].next = &nodes[order[(i + 1) % kNodes]];
    struct node* first = &nodes[order[0]];
    free(order);
    return first;
}

typedef long long (*reader)(const char*);

// Says where the copy is, too.
static reader made_code(void) {
    const size_t bytes = (size_t)(__stop_access_kernels - __start_access_kernels);
    char* copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        exit(2);
    memcpy(copy, __start_access_kernels, bytes);
    if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) != 0)
        exit(77);
    printf("code %p %p\n", (void*)copy, (void*)(copy + bytes));
    return (reader)(void*)(copy + ((char*)(void*)read_only - __start_access_kernels));
}

static double cpu_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int count, char** arguments) {
    if (count < 3)
        return 2;
    const char* kernel = arguments[1];
    const size_t offset = count > 3 ? strtoul(arguments[3], NULL, 10) : 0;
    printf("code %p %p\n", (void*)__start_access_kernels, (void*)__stop_access_kernels);
    double* a = array("a", (kDoubles + 8) * sizeof(double));
    double* b = array("b", (kDoubles + 8) * sizeof(double));
    double* c = array("c", (kDoubles + 8) * sizeof(double));
    int* values = array("values", kDoubles * sizeof(int));
    struct node* at = ring_of_nodes();
    static uint32_t masks[4];
    static double* tables[4];
    uint32_t place = 1;
    if (!strcmp(kernel, "loads"))
        for (size_t i = 0; i < 4; ++i) {
            const int slow = i == offset;
            const size_t doubles = slow ? 32u << 20 >> 1 : kSmall; // 128 MiB
            const char name[] = {slow ? 'S' : (char)('0' + i), 0};
            tables[i] = array(name, doubles * sizeof(double));
            masks[i] = (uint32_t)doubles - 1;
        }
    const reader made = strcmp(kernel, "made_code") ? read_only : made_code();
    for (size_t i = 0; i < kDoubles; ++i)
        values[i] = rand() % kDoubles;
    fflush(stdout);
    const double end = cpu_milliseconds() + strtod(arguments[2], NULL);
    volatile double sink = 0;
    do {
        if (!strcmp(kernel, "triad"))
            triad(a, b, c, 1.5);
        else if (!strcmp(kernel, "chase"))
            at = chase(at, 100000);
        else if (!strcmp(kernel, "column_walk"))
            sink = sink + column_walk(a);
        else if (!strcmp(kernel, "stencil"))
            stencil(b, a);
        else if (!strcmp(kernel, "histogram"))
            histogram(values, (int*)a);
        else if (!strcmp(kernel, "loads"))
            sink = sink + loads(tables[0], tables[1], tables[2], tables[3], masks, &place);
        else if (!strcmp(kernel, "copy"))
            for (int turn = 0; turn < 100; ++turn)
                copy((char*)a + offset, (const char*)b + offset);
        else if (!strcmp(kernel, "read_only") || !strcmp(kernel, "made_code"))
            for (int turn = 0; turn < 100; ++turn)
                sink = sink + (double)made((const char*)b + offset);
        else
            return 2;
    } while (cpu_milliseconds() < end);
    return at == NULL;
}
