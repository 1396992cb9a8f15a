// The cure: the innermost loop adds a row of b, times a number, to a row of the result. All elements are adjacent, and each has a sum
// of its own.
#include "product.h"

__attribute__((noinline)) static void multiply(int n, const double* a, const double* b, double* c) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            c[i * n + j] = 0;
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}
