// What the kernels' compiler must not see: where arrays lie, how long they are, and what a function does.
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000, kRow = 64, kLarge = 1 << 24 };

struct arrays all_arrays;

// Apart from one another by more than any of them is long, each at another place within a page.
static void* apart(size_t bytes) {
    static size_t shift;
    char* const memory = aligned_alloc(4096, (bytes + 3 * 4096) / 4096 * 4096);
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    shift = (shift + 448) % 4096;
    return memory + shift;
}

static double* doubles(double first) {
    double* const made = apart(kCount * sizeof(double));
    for (size_t i = 0; i < kCount; ++i)
        made[i] = first + (double)(i % 97) / 97;
    return made;
}

static float* floats(float first) {
    float* const made = apart(kCount * sizeof(float));
    for (size_t i = 0; i < kCount; ++i)
        made[i] = first + (float)(i % 97) / 97;
    return made;
}

void make_arrays(void) {
    struct arrays* const s = &all_arrays;
    s->count = kCount;
    s->row = kRow;
    s->large = kLarge;
    s->a = doubles(1), s->b = doubles(1), s->c = doubles(1), s->d = doubles(1);
    s->e = floats(1), s->f = floats(1), s->g = floats(1);
    s->numbers = apart(kCount * sizeof *s->numbers);
    s->places = apart(kCount * sizeof *s->places);
    s->records = apart(kCount * sizeof *s->records);
    s->list = apart(kCount * sizeof *s->list);
    s->matrix = apart(kLarge * sizeof(double));
    for (size_t i = 0; i < kCount; ++i) {
        s->numbers[i] = (long)(i % 11);
        s->places[i] = (int)(i * 389 % kCount);
        s->records[i] = (struct particle){1 + (double)i, 1, 1, 0.5};
        s->list[i].next = i + 1 < kCount ? &s->list[i + 1] : NULL;
        s->list[i].value = (double)i;
    }
    for (size_t i = 0; i < kLarge; ++i)
        s->matrix[i] = 1 + (double)(i % 89) / 89;
}

double shifted(double x) { return 0.5 * x + 1; }

size_t same_size(size_t count) { return count; }
