// The problem: the innermost loop adds up one element of the result. It walks down a column of b, and the order of the sum is fixed.
#include "product.h"

__attribute__((noinline)) static void multiply(int n, const double* a, const double* b, double* c) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
