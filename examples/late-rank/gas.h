/* A gas that heats up and cools down, cell by cell, split between the ranks; a probe looks at the cells of one of them. */
#pragma once

#include <math.h>
#include <stdlib.h>

enum { cell_count = 60000, line_every = 100 };

struct gas {
    double* temperature;
    double* source;
};

static struct gas make_gas(int rank) {
    struct gas gas = {malloc(cell_count * sizeof(double)), malloc(cell_count * sizeof(double))};
    for (int i = 0; gas.temperature && gas.source && i < cell_count; ++i) {
        gas.temperature[i] = 1.0;
        gas.source[i] = 0.5 + 0.5 * ((i * 7919L + rank) % cell_count) / cell_count;
    }
    return gas;
}

static void free_gas(struct gas gas) {
    free(gas.temperature);
    free(gas.source);
}

/* One step in time. Returns the longest step that these cells allow next. */
static double advance(struct gas gas, double step) {
    double fastest = 0;
    for (int i = 0; i < cell_count; ++i) {
        const double rate = gas.source[i] - 0.5 * sqrt(gas.temperature[i]) * exp(-1.0 / gas.temperature[i]);
        gas.temperature[i] += step * rate;
        if (fabs(rate) > fastest)
            fastest = fabs(rate);
    }
    return fastest > 1.0 ? 0.01 / fastest : 0.01;
}

/* What the probe in the middle sees of the cells' radiation, through the gas between. */
static double seen_by_probe(struct gas gas) {
    double seen = 0;
    for (int i = 0; i < cell_count; ++i) {
        const double distance = 1e-3 * (i - cell_count / 2), squared = gas.temperature[i] * gas.temperature[i];
        seen += squared * squared * exp(-0.1 * fabs(distance)) / (1 + distance * distance);
    }
    return seen;
}

static long argument_or(int count, char** arguments, int number, long otherwise) {
    return count > number ? atol(arguments[number]) : otherwise;
}
