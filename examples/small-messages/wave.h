/* A wave in a periodic box, in first-order form: p' = div d, d' = grad p. The box of n x n x n points is split between
   the ranks along y; a rank's slab has one layer of its neighbours' points below and one above (its halo). */
#pragma once

#include <math.h>
#include <stdlib.h>

enum { n = 48, fields = 4 };

struct slab {
    int width;        /* points along y, without the halo */
    int below, above; /* ranks of the neighbours */
};

enum direction { along_x, along_y, along_z };

/* Memory order: x, y with the halo, z. So a row along z is contiguous, and the halo is n such rows far from each other. */
static size_t row(const struct slab* slab, int x, int y) {
    return ((size_t)x * (size_t)(slab->width + 2) + (size_t)y) * n;
}

static size_t slab_size(const struct slab* slab) {
    return row(slab, n, 0);
}

/* Adds step times the derivative of `field` to `sum`. The halo of `field` must be valid where the direction is along_y. */
static void add_differences(const struct slab* slab, const double* field, enum direction direction,
                            double step, double* sum) {
    const double half = step / 2;
    for (int x = 0; x < n; ++x) {
        for (int y = 1; y <= slab->width; ++y) {
            double* to = sum + row(slab, x, y);
            if (direction == along_z) {
                const double* at = field + row(slab, x, y);
                to[0] += half * (at[1] - at[n - 1]);
                for (int z = 1; z < n - 1; ++z)
                    to[z] += half * (at[z + 1] - at[z - 1]);
                to[n - 1] += half * (at[0] - at[n - 2]);
                continue;
            }
            const int across = direction == along_x;
            const double* next = field + row(slab, across ? (x + 1) % n : x, across ? y : y + 1);
            const double* last = field + row(slab, across ? (x + n - 1) % n : x, across ? y : y - 1);
            for (int z = 0; z < n; ++z)
                to[z] += half * (next[z] - last[z]);
        }
    }
}

/* A bump in the middle of the box. */
static void fill(const struct slab* slab, int rank, double* p) {
    for (int x = 0; x < n; ++x)
        for (int y = 1; y <= slab->width; ++y)
            for (int z = 0; z < n; ++z) {
                const double a = x - n / 2, b = rank * slab->width + y - 1 - n / 2, c = z - n / 2;
                p[row(slab, x, y) + (size_t)z] = exp(-(a * a + b * b + c * c) / 20);
            }
}

/* Sum of squares of the points of this rank: what the wave keeps. */
static double energy(const struct slab* slab, const double* field) {
    double sum = 0;
    for (int x = 0; x < n; ++x)
        for (int y = 1; y <= slab->width; ++y)
            for (int z = 0; z < n; ++z) {
                const double value = field[row(slab, x, y) + (size_t)z];
                sum += value * value;
            }
    return sum;
}

static long argument_or(int count, char** arguments, int number, long otherwise) {
    return count > number ? atol(arguments[number]) : otherwise;
}
