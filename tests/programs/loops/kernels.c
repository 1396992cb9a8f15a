// See kernels.h. Names are those of the field.
#include "kernels.h"

#include <math.h>
#include <stdint.h>

#ifdef CURED
#define APART restrict
#define SUM_OF(total) _Pragma("omp simd reduction(+ : s)")
#define INDEPENDENT _Pragma("omp simd")
#else
#define APART
#define SUM_OF(total)
#define INDEPENDENT
#endif
#define KERNEL __attribute__((noinline)) static

// --- what vectorises as soon as the compiler may

KERNEL void axpy(size_t n, double a, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] += a * x[i];
}

KERNEL void scale_float(size_t n, float a, const float* x, float* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = a * x[i] + 1.0f;
}

KERNEL void divide(size_t n, const double* x, const double* y, double* z) {
    for (size_t i = 0; i < n; ++i)
        z[i] = x[i] / y[i];
}

KERNEL void stencil(size_t n, const double* x, double* y) {
    for (size_t i = 1; i + 1 < n; ++i)
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
}

KERNEL void widen(size_t n, const float* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = 1.5 * x[i];
}

KERNEL void half_float(size_t n, const float* x, float* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] * 0.3 + 0.7; // constants in double precision
}

KERNEL void powers(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = ((x[i] * 0.1 + 0.2) * x[i] + 0.3) * x[i] + 0.4;
}

// --- sums, whose order the compiler must keep

KERNEL double dot(size_t n, const double* x, const double* y) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += x[i] * y[i];
    return s;
}

KERNEL double sum(size_t n, const double* x) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += x[i];
    return s;
}

KERNEL float norm_float(size_t n, const float* x) {
    float s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += x[i] * x[i];
    return s;
}

KERNEL double distance(size_t n, const double* x, const double* y) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += (x[i] - y[i]) * (x[i] - y[i]);
    return s;
}

KERNEL double sum_of_floats(size_t n, const float* x) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += x[i];
    return s;
}

KERNEL double largest(size_t n, const double* x) {
    double s = x[0];
#ifdef CURED
#pragma omp simd reduction(max : s)
#endif
    for (size_t i = 1; i < n; ++i)
        s = x[i] > s ? x[i] : s;
    return s;
}

KERNEL void matrix_vector(size_t rows, size_t n, const double* matrix, const double* x, double* y) {
    for (size_t row = 0; row < rows; ++row) {
        double s = 0;
        SUM_OF(s)
        for (size_t i = 0; i < n; ++i)
            s += matrix[row * n + i] * x[i];
        y[row] = s;
    }
}

// --- what may overlap

// More pairs of pointers than compilers check at run time.
KERNEL void many_arrays(size_t n, double* APART a, double* APART b, double* APART c, double* APART d, float* APART e,
                        float* APART f, float* APART g) {
    for (size_t i = 0; i < n; ++i) {
        a[i] = 0.5 * a[i] + c[i];
        b[i] = 0.5 * b[i] + d[i];
        c[i] = 0.25 * (c[i] + d[i]);
        e[i] = 0.5f * e[i] + g[i];
        f[i] = 0.5f * f[i] + g[i];
    }
}

struct grid {
    double *now, *next;
    size_t n;
};

// The trip count and the pointers lie where the loop stores to, as far as the compiler knows.
KERNEL void of_members(struct grid* grid) {
#ifdef CURED
    double *restrict now = grid->now, *restrict next = grid->next;
    const size_t n = grid->n;
    for (size_t i = 0; i < n; ++i)
        next[i] = 0.5 * now[i] + 0.25;
#else
    for (size_t i = 0; i < grid->n; ++i)
        grid->next[i] = 0.5 * grid->now[i] + 0.25;
#endif
}

// They do overlap: what is checked at run time is not so, and no `restrict` may be advised.
KERNEL void overlaps(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = 0.5 * x[i] + 0.25;
}

// --- calls

KERNEL void calls_sine(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = sin(x[i]);
}

KERNEL void calls_exponential(size_t n, const float* x, float* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = expf(-x[i]);
}

KERNEL void calls_shifted(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
#ifdef CURED
        y[i] = 0.5 * x[i] + 1;
#else
        y[i] = shifted(x[i]);
#endif
}

KERNEL void roots(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = sqrt(x[i]); // sets errno, which no vector instruction does
}

// --- strides and gathers

KERNEL double masses(size_t n, const struct particle* records) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < n; ++i)
        s += records[i].mass * records[i].x;
    return s;
}

KERNEL void drift(size_t n, struct particle* records) {
    INDEPENDENT
    for (size_t i = 0; i < n; ++i)
#ifdef CURED // as if each member had an array of its own
        ((double*)records)[i] += 0.01 * ((double*)records)[n + i];
#else
        records[i].x += 0.01 * records[i].y;
#endif
}

KERNEL void column(size_t n, size_t row, const double* matrix, double* y) {
    INDEPENDENT
    for (size_t i = 0; i < n; ++i)
#ifdef CURED // transposed
        y[i] = 0.5 * matrix[row + i] + y[i];
#else
        y[i] = 0.5 * matrix[i * row] + y[i];
#endif
}

KERNEL void gather(size_t n, const int* places, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] += 0.5 * x[places[i]];
}

KERNEL void scatter(size_t n, const int* places, const double* x, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[places[i]] += 0.5 * x[i];
}

// --- conversions without a packed instruction

KERNEL void from_integers(size_t n, const long* numbers, double* y) {
    for (size_t i = 0; i < n; ++i)
        y[i] = 0.5 * (double)numbers[i];
}

// --- conditions

KERNEL void clip(size_t n, const double* x, double* y) {
    INDEPENDENT
    for (size_t i = 0; i < n; ++i)
#ifdef CURED
        y[i] = x[i] > 1.5 ? 0.5 * x[i] + 0.1 : y[i];
#else
        if (x[i] > 1.5)
            y[i] = 0.5 * x[i] + 0.1;
#endif
}

// --- recurrences: nothing to advise

KERNEL void filter(size_t n, const double* x, double* y) {
    double last = 0;
    for (size_t i = 0; i < n; ++i)
        y[i] = last = 0.5 * last + x[i];
}

KERNEL void running_sum(size_t n, double* y) {
    for (size_t i = 1; i < n; ++i)
        y[i] = 0.5 * y[i - 1] + y[i];
}

KERNEL double logistic(size_t n, double x) {
    for (size_t i = 0; i < n; ++i)
        x = 3.7 * x * (1 - x);
    return x;
}

KERNEL double list_sum(const struct node* list) {
    double s = 0;
    for (; list; list = list->next)
        s += list->value;
    return s;
}

KERNEL double integral(size_t n, double step) {
    double s = 0, x = 0.5 * step;
    for (size_t i = 0; i < n; ++i) {
        s += step / (1 + x * x);
        x += step;
    }
    return s;
}

// --- innocent

KERNEL void long_triad(size_t n, const double* x, const double* y, double* z) {
    for (size_t i = 0; i < n; ++i)
        z[i] = x[i] + 0.5 * y[i];
}

KERNEL void pairs(size_t n, size_t two, const double* x, double* y) {
    for (size_t i = 0; i < n; i += 2)
        for (size_t k = 0; k < two; ++k)
            y[i + k] = 0.5 * x[i + k] + y[i + k];
}

KERNEL void sevens(size_t n, size_t seven, const float* x, float* y) {
    for (size_t i = 0; i + seven <= n; i += seven)
        for (size_t k = 0; k < seven; ++k)
            y[i + k] = 0.5f * x[i + k] + 0.25f;
}

KERNEL long hash(size_t n, const long* numbers) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; ++i)
        h = (h ^ (uint64_t)numbers[i]) * 1099511628211u;
    return (long)h;
}

KERNEL void histogram(size_t n, const int* places, long* counts) {
    for (size_t i = 0; i < n; ++i)
        ++counts[places[i]];
}

KERNEL size_t search(size_t n, const double* x, double wanted) {
    for (size_t i = 0; i < n; ++i)
        if (x[i] == wanted)
            return i;
    return n;
}

typedef double pair_of_doubles __attribute__((vector_size(16), aligned(8), may_alias));
KERNEL void packed_by_hand(size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; i += 2)
        *(pair_of_doubles*)&y[i] = *(const pair_of_doubles*)&x[i] * 0.5 + *(const pair_of_doubles*)&y[i];
}

double result;

#define WITH(name, call) \
    static void run_##name(const struct arrays* s) { call; }
WITH(axpy, axpy(s->count, 1e-9, s->a, s->b))
WITH(scale_float, scale_float(s->count, 1.5f, s->e, s->f))
WITH(divide, divide(s->count, s->a, s->b, s->c))
WITH(stencil, stencil(s->count, s->a, s->c))
WITH(widen, widen(s->count, s->e, s->c))
WITH(half_float, half_float(s->count, s->e, s->f))
WITH(powers, powers(s->count, s->a, s->c))
WITH(dot, result = dot(s->count, s->a, s->b))
WITH(sum, result = sum(s->count, s->a))
WITH(norm_float, result = (double)norm_float(s->count, s->e))
WITH(distance, result = distance(s->count, s->a, s->b))
WITH(sum_of_floats, result = sum_of_floats(s->count, s->e))
WITH(largest, result = largest(s->count, s->a))
WITH(matrix_vector, matrix_vector(32, s->row, s->matrix, s->a, s->c))
WITH(many_arrays, many_arrays(s->count, s->a, s->b, s->c, s->d, s->e, s->f, s->g))
WITH(of_members, struct grid grid; grid.now = s->a; grid.next = s->c; grid.n = s->count; of_members(&grid))
WITH(overlaps, overlaps(s->count - 1, s->c, s->c + 1))
WITH(calls_sine, calls_sine(s->count, s->a, s->c))
WITH(calls_exponential, calls_exponential(s->count, s->e, s->f))
WITH(calls_shifted, calls_shifted(s->count, s->a, s->c))
WITH(roots, roots(s->count, s->a, s->c))
WITH(masses, result = masses(s->count, s->records))
WITH(drift, drift(s->count, s->records))
WITH(column, column(s->count, s->row, s->matrix, s->c))
WITH(gather, gather(s->count, s->places, s->a, s->c))
WITH(scatter, scatter(s->count, s->places, s->a, s->c))
WITH(from_integers, from_integers(s->count, s->numbers, s->c))
WITH(clip, clip(s->count, s->a, s->c))
WITH(filter, filter(s->count, s->a, s->c))
WITH(running_sum, running_sum(s->count, s->c))
WITH(logistic, result = logistic(s->count, 0.3))
WITH(list_sum, result = list_sum(s->list))
WITH(integral, result = integral(s->count, 1e-3))
WITH(long_triad, long_triad(s->large / 4, s->matrix, s->matrix + s->large / 4, s->matrix + s->large / 2))
WITH(pairs, pairs(s->count, same_size(2), s->a, s->c))
WITH(sevens, sevens(s->count, same_size(7), s->e, s->f))
WITH(hash, result = (double)hash(s->count, s->numbers))
WITH(histogram, histogram(s->count, s->places, s->numbers))
WITH(search, result = (double)search(s->count, s->a, -1))
WITH(packed_by_hand, packed_by_hand(s->count, s->a, s->c))

#define ENTRY(name) {#name, run_##name}
const struct kernel kernels_c[] = {
    ENTRY(axpy),
    ENTRY(scale_float),
    ENTRY(divide),
    ENTRY(stencil),
    ENTRY(widen),
    ENTRY(half_float),
    ENTRY(powers),
    ENTRY(dot),
    ENTRY(sum),
    ENTRY(norm_float),
    ENTRY(distance),
    ENTRY(sum_of_floats),
    ENTRY(largest),
    ENTRY(matrix_vector),
    ENTRY(many_arrays),
    ENTRY(of_members),
    ENTRY(overlaps),
    ENTRY(calls_sine),
    ENTRY(calls_exponential),
    ENTRY(calls_shifted),
    ENTRY(roots),
    ENTRY(masses),
    ENTRY(drift),
    ENTRY(column),
    ENTRY(gather),
    ENTRY(scatter),
    ENTRY(from_integers),
    ENTRY(clip),
    ENTRY(filter),
    ENTRY(running_sum),
    ENTRY(logistic),
    ENTRY(list_sum),
    ENTRY(integral),
    ENTRY(long_triad),
    ENTRY(pairs),
    ENTRY(sevens),
    ENTRY(hash),
    ENTRY(histogram),
    ENTRY(search),
    ENTRY(packed_by_hand),
    {NULL, NULL}};
