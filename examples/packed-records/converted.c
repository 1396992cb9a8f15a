/* Keeps the records in memory on their natural boundaries, and packs them only where the file is written.
   Usage: converted [passes [records]] */
#include "survey.h"

struct record { /* the largest member first */
    double value;
    uint32_t station;
    uint16_t kind;
};

static struct record* make_records(long count) {
    struct record* records = malloc((size_t)count * sizeof *records);
    for (long i = 0; records && i < count; ++i) {
        records[i].kind = (uint16_t)(i & 3);
        records[i].station = (uint32_t)i % station_count;
        records[i].value = 0.5 * (double)i;
    }
    return records;
}

static void calibrate(struct record* records, long count, double gain) {
    for (long i = 0; i < count; ++i)
        records[i].value *= gain;
}

static double sum_of_values(const struct record* records, long count) {
    double sum = 0;
    for (long i = 0; i < count; ++i)
        sum += records[i].value;
    return sum;
}

/* The compiler packs the members into bytes here; memcpy in fwrite takes them as they come. */
static size_t write_records(const struct record* records, long count, FILE* file) {
    size_t written = 0;
    for (long i = 0; i < count; ++i) {
        unsigned char bytes[sizeof(struct file_record)];
        __builtin_memcpy(bytes, &records[i].kind, sizeof records[i].kind);
        __builtin_memcpy(bytes + offsetof(struct file_record, station), &records[i].station, sizeof records[i].station);
        __builtin_memcpy(bytes + offsetof(struct file_record, value), &records[i].value, sizeof records[i].value);
        written += fwrite(bytes, sizeof bytes, 1, file);
    }
    return written;
}

int main(int argc, char** argv) {
    const long passes = argument_or(argc, argv, 1, 10000), count = argument_or(argc, argv, 2, 1 << 16);
    struct record* records = make_records(count);
    struct station* stations = make_stations();
    FILE* file = tmpfile();
    if (!records || !stations || !file)
        return 1;
    for (long pass = 0; pass < passes; ++pass) {
        calibrate(records, count, 1.0 + 1.0 / (double)(pass + 2));
        calibrate_stations(stations, 1.0 - 1.0 / (double)(pass + 2));
    }
    const double sum = sum_of_values(records, count) + sum_of_weights(stations);
    const size_t written = write_records(records, count, file);
    printf("%.6e, %zu records of %zu bytes written\n", sum, written, sizeof(struct file_record));
    fclose(file);
    free(stations);
    free(records);
    return 0;
}
