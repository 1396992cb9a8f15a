/* A survey: many records of a file, and a few stations beside them, calibrated pass by pass. Which layout a record has in
   memory is for the program to say. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* As the file holds it: nothing between the members. */
struct __attribute__((packed)) file_record {
    uint16_t kind;
    uint32_t station;
    double value;
};

struct station {
    double height, weight;
    uint32_t number;
};

enum { station_count = 1024 };

static struct station* make_stations(void) {
    struct station* stations = malloc(station_count * sizeof *stations);
    for (uint32_t i = 0; stations && i < station_count; ++i)
        stations[i] = (struct station){.height = 10.0 * i, .weight = 1.0 / (1 + i), .number = i};
    return stations;
}

static void calibrate_stations(struct station* stations, double gain) {
    for (uint32_t i = 0; i < station_count; ++i)
        stations[i].weight *= gain;
}

static double sum_of_weights(const struct station* stations) {
    double sum = 0;
    for (uint32_t i = 0; i < station_count; ++i)
        sum += stations[i].weight * stations[i].height;
    return sum;
}

static long argument_or(int count, char** arguments, int number, long otherwise) {
    return count > number ? atol(arguments[number]) : otherwise;
}
