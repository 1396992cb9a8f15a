// Loops of known kinds, for the diagnosis of scalar loops: each is a function of its own that goes once over arrays in the caches.
// CURED builds what a finding advises. The arrays' places and the trip counts come from another file (opaque.c), so that no
// compiler sees them.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct arrays {
    double *a, *b, *c, *d;    // `count` each, positive, apart from one another
    float *e, *f, *g;         // likewise
    long* numbers;            // small ones
    int* places;              // a mix of 0 to count - 1
    struct particle* records; // `count`
    struct node* list;        // `count` nodes
    double* matrix;           // count rows of `row` elements; large arrays begin here as well
    size_t count, row, large; // large: elements of `matrix`, beyond any cache
};

struct particle {
    double x, y, z, mass;
};

struct node {
    struct node* next;
    double value;
};

// Of opaque.c.
extern struct arrays all_arrays;
void make_arrays(void);
double shifted(double x);       // a function of which the callers know nothing
size_t same_size(size_t count); // its argument

struct kernel {
    const char* name;
    void (*run)(const struct arrays*);
};

// The lists of the files with kernels; each ends with a name that is null.
extern const struct kernel kernels_c[], kernels_cpp[], kernels_fortran[];
extern double result; // what a kernel computed, so that it is not optimised away

#ifdef __cplusplus
}
#endif
