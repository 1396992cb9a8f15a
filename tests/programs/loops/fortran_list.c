// The kernels of kernels_fortran.F90, for run_kernels.c.
#include "kernels.h"

void scaled_sum(size_t n, double a, const double* x, double* y);
double inner(size_t n, const double* x, const double* y);
double row_sum(size_t rows, size_t n, const double* matrix);
void update(size_t m, size_t n, const double* a, const double* b, double* c);
void call_shaped(size_t n, double a, const double* x, double* y);
void smooth(size_t n, const double* x, double* y);

static void run_scaled_sum(const struct arrays* s) { scaled_sum(s->count, 1e-9, s->a, s->b); }
static void run_inner(const struct arrays* s) { result = inner(s->count, s->a, s->b); }
static void run_row_sum(const struct arrays* s) { result = row_sum(s->row, s->count, s->matrix); }
static void run_update(const struct arrays* s) { update(s->row, 32, s->matrix, s->a, s->c); }
static void run_shaped(const struct arrays* s) { call_shaped(s->count, 1e-9, s->a, s->b); }
static void run_smooth(const struct arrays* s) { smooth(s->count, s->a, s->c); }

const struct kernel kernels_fortran[] = {
    {"scaled_sum", run_scaled_sum}, {"inner", run_inner},   {"row_sum", run_row_sum}, {"update", run_update},
    {"shaped", run_shaped},         {"smooth", run_smooth}, {NULL, NULL},
};
