/* streams KERNEL THREADS MIB SECONDS: each thread goes through a part of its own of three arrays of MIB each, again and again.
   Prints the bytes that passed between the processor and its memory each second, and in all, where the caches cannot hold the
   arrays: what is loaded, and twice what is stored, since each line is read before it is overwritten (once with non-temporal
   stores).

   triad, copy, sum, scale, backwards, stencil: what they are called after; nontemporal: a copy past the caches;
   chunks: a triad whose parts of 16 KiB the threads take in turn; library: memcpy;
   compute: a polynomial of each element of the first 16 KiB of its part. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { kMaxThreads = 256, kRow = 1024, kChunk = 2048 };

#define KERNEL __attribute__((noinline)) static

struct part {
    double *a, *b, *c;
    size_t count;
    double bytes, seconds, sum;
    pthread_t thread;
};

static const char* kernel;
static double run_seconds;
static double *all_a, *all_b, *all_c;
static size_t all_count;
static size_t next_chunk;
static pthread_barrier_t start;
static struct part parts[kMaxThreads];

KERNEL void triad(double* restrict a, const double* restrict b, const double* restrict c, size_t count) {
    for (size_t i = 0; i < count; ++i)
        a[i] = b[i] + 0.5 * c[i]; /* triad */
}

KERNEL void copy(double* restrict a, const double* restrict b, size_t count) {
    for (size_t i = 0; i < count; ++i)
        ((volatile double*)a)[i] = b[i]; /* volatile: or the compiler calls memcpy */
}

KERNEL double sum(const double* b, size_t count) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (size_t i = 0; i + 3 < count; i += 4) {
        s0 += b[i];
        s1 += b[i + 1];
        s2 += b[i + 2];
        s3 += b[i + 3];
    }
    return s0 + s1 + s2 + s3;
}

KERNEL void scale(double* a, size_t count) {
    for (size_t i = 0; i < count; ++i)
        a[i] = 0.75 * a[i] + 1;
}

KERNEL void backwards(double* restrict a, const double* restrict b, const double* restrict c, size_t count) {
    for (size_t i = count; i-- > 0;)
        a[i] = b[i] + 0.5 * c[i];
}

KERNEL void stencil(double* restrict a, const double* restrict b, size_t count) {
    for (size_t row = 1; row + 1 < count / kRow; ++row)
        for (size_t i = row * kRow; i < (row + 1) * kRow; ++i)
            a[i] = 0.25 * (b[i - kRow] + b[i - 1] + b[i + 1] + b[i + kRow]);
}

KERNEL void nontemporal(double* restrict a, const double* restrict b, size_t count) {
#if defined(__x86_64__)
    for (size_t i = 0; i + 1 < count; i += 2)
        _mm_stream_pd(a + i, _mm_load_pd(b + i));
    _mm_sfence();
#else
    copy(a, b, count);
#endif
}

KERNEL double compute(double* a, size_t count) {
    double all = 0;
    for (size_t i = 0; i < count; ++i) {
        double x = a[i];
        for (int term = 0; term < 32; ++term)
            x = x * 0.999 + 0.001;
        all += x;
    }
    return all;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Elements that were gone through, times bytes each. */
static double turn(struct part* part) {
    const size_t count = part->count;
    if (!strcmp(kernel, "triad"))
        return triad(part->a, part->b, part->c, count), 32.0 * (double)count;
    if (!strcmp(kernel, "copy"))
        return copy(part->a, part->b, count), 24.0 * (double)count;
    if (!strcmp(kernel, "sum"))
        return part->sum += sum(part->b, count), 8.0 * (double)count;
    if (!strcmp(kernel, "scale"))
        return scale(part->a, count), 16.0 * (double)count;
    if (!strcmp(kernel, "backwards"))
        return backwards(part->a, part->b, part->c, count), 32.0 * (double)count;
    if (!strcmp(kernel, "stencil"))
        return stencil(part->a, part->b, count), 24.0 * (double)count;
    if (!strcmp(kernel, "nontemporal"))
        return nontemporal(part->a, part->b, count), 16.0 * (double)count;
    if (!strcmp(kernel, "library"))
        return memcpy(part->a, part->b, count * sizeof(double)), 16.0 * (double)count;
    if (!strcmp(kernel, "chunks")) {
        double bytes = 0;
        for (int i = 0; i < 256; ++i) {
            const size_t chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED) % (all_count / kChunk) * kChunk;
            triad(all_a + chunk, all_b + chunk, all_c + chunk, kChunk);
            bytes += 32.0 * kChunk;
        }
        return bytes;
    }
    if (!strcmp(kernel, "compute")) {
        for (int i = 0; i < 100; ++i)
            part->sum += compute(part->a, count < 2048 ? count : 2048);
        return 0;
    }
    exit(2);
}

static void* work(void* argument) {
    struct part* part = argument;
    memset(part->a, 0, part->count * sizeof(double)); /* first touch */
    memset(part->b, 0, part->count * sizeof(double));
    memset(part->c, 0, part->count * sizeof(double));
    pthread_barrier_wait(&start);
    const double begin = now();
    while ((part->seconds = now() - begin) < run_seconds)
        part->bytes += turn(part);
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count == 5 ? atoi(arguments[2]) : 0;
    if (threads < 1 || threads > kMaxThreads) {
        fprintf(stderr, "usage: streams KERNEL THREADS MIB SECONDS\n");
        return 2;
    }
    kernel = arguments[1];
    run_seconds = atof(arguments[4]);
    const size_t each = ((size_t)atol(arguments[3]) << 17) / (size_t)threads / kRow * kRow;
    all_count = each * (size_t)threads;
    all_a = aligned_alloc(4096, all_count * sizeof(double)); /* a */
    all_b = aligned_alloc(4096, all_count * sizeof(double)); /* b */
    all_c = aligned_alloc(4096, all_count * sizeof(double)); /* c */
    if (!all_a || !all_b || !all_c)
        return 77;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; ++i) {
        const size_t from = each * (size_t)i;
        parts[i] = (struct part){.a = all_a + from, .b = all_b + from, .c = all_c + from, .count = each};
        if (pthread_create(&parts[i].thread, NULL, work, &parts[i]) != 0)
            return 77;
    }
    double bytes_per_s = 0, bytes = 0, check = 0;
    for (int i = 0; i < threads; ++i) {
        pthread_join(parts[i].thread, NULL);
        bytes_per_s += parts[i].bytes / parts[i].seconds;
        bytes += parts[i].bytes;
        check += parts[i].sum;
    }
    printf("%.6g %.6g\n", bytes_per_s, bytes);
    return check == 1.5;
}
