/* Keeps the records in memory as they lie in the file: packed. Usage: packed [passes [records]] */
#include "survey.h"

static struct file_record* make_records(long count) {
    struct file_record* records = malloc((size_t)count * sizeof *records);
    for (long i = 0; records && i < count; ++i) {
        records[i].kind = (uint16_t)(i & 3);
        records[i].station = (uint32_t)i % station_count;
        records[i].value = 0.5 * (double)i;
    }
    return records;
}

static void calibrate(struct file_record* records, long count, double gain) {
    for (long i = 0; i < count; ++i)
        records[i].value *= gain;
}

static double sum_of_values(const struct file_record* records, long count) {
    double sum = 0;
    for (long i = 0; i < count; ++i)
        sum += records[i].value;
    return sum;
}

int main(int argc, char** argv) {
    const long passes = argument_or(argc, argv, 1, 10000), count = argument_or(argc, argv, 2, 1 << 16);
    struct file_record* records = make_records(count);
    struct station* stations = make_stations();
    FILE* file = tmpfile();
    if (!records || !stations || !file)
        return 1;
    for (long pass = 0; pass < passes; ++pass) {
        calibrate(records, count, 1.0 + 1.0 / (double)(pass + 2));
        calibrate_stations(stations, 1.0 - 1.0 / (double)(pass + 2));
    }
    const double sum = sum_of_values(records, count) + sum_of_weights(stations);
    const size_t written = fwrite(records, sizeof *records, (size_t)count, file);
    printf("%.6e, %zu records of %zu bytes written\n", sum, written, sizeof *records);
    fclose(file);
    free(stations);
    free(records);
    return 0;
}
