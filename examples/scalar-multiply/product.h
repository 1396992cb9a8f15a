// Products of 64 x 64 matrices, again and again while one of them changes. multiply() is that of the file that includes this.
#include <stdio.h>
#include <stdlib.h>

// c = a b; of n x n elements each, row by row.
static void multiply(int n, const double* a, const double* b, double* c);

int main(int count, char** words) {
    const int products = count > 1 ? atoi(words[1]) : 20000, n = count > 2 ? atoi(words[2]) : 64;
    const size_t elements = (size_t)n * (size_t)n;
    double *const a = calloc(elements, sizeof *a), *const b = calloc(elements, sizeof *b), *const c = calloc(elements, sizeof *c);
    if (!a || !b || !c)
        return 1;
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
            a[row * n + column] = row + 1e-3 * column;
            b[row * n + column] = row == column ? 0.5 : 1e-3;
        }
    for (int product = 0; product < products; ++product) {
        multiply(n, a, b, c);
        a[(size_t)product % elements] = 1e-3 * c[elements / 2];
    }
    printf("%d products, %.6f\n", products, c[elements / 2]);
    free(a), free(b), free(c);
    return 0;
}
