/* Work that the programs of this folder share: a field of cells that are relaxed, and what stays of it. */
#include <math.h>
#include <stdlib.h>

static double* new_field(int cells) {
    double* field = malloc(((size_t)cells + 2) * sizeof *field);
    for (int i = 0; i < cells + 2; i++)
        field[i] = 1.0 + 0.001 * (i % 97);
    return field;
}

/* About 5 ns a cell and sweep: each cell needs the one before. */
static inline void relax(double* field, int cells, int sweeps) {
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int i = 1; i <= cells; i++)
            field[i] = 0.25 * (field[i - 1] + 2 * field[i] + field[i + 1]); /* planted: unequal-share */
}
