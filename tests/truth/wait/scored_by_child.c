// A parent makes records and writes them to a pipe; a child reads them and scores each, which takes three times as long. The pipe is
// full all the time. Cured: as many children as keep up and have a CPU, each with a pipe of its own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    kRecords = 3000,
    kValues = 512, // one page a record
    kSteps = 40000,
    kMostChildren = 3
};
static int g_children = 1;

static double g_record[kValues];

__attribute__((noinline)) static void make_record(int number) {
    double value = number;
    for (int step = 0; step < kSteps; step++) {
        value = value * 0.999 + sqrt(value + step);
        g_record[step % kValues] = value;
    }
}

__attribute__((noinline)) static double score_record(void) {
    double score = 0;
    for (int step = 0; step < 3 * kSteps; step++)
        score = score * 0.998 + sqrt(score + g_record[step % kValues]); // planted: slow-stage
    return score;
}

static void fully(ssize_t (*transfer)(int, void*, size_t), int descriptor) {
    char* at = (char*)g_record;
    for (size_t done = 0; done < sizeof g_record;) {
        const ssize_t count = transfer(descriptor, at + done, sizeof g_record - done);
        if (count <= 0)
            exit(1);
        done += (size_t)count;
    }
}

static ssize_t write_part(int descriptor, void* data, size_t size) { return write(descriptor, data, size); }

static void score_all(int records, int results, int first) {
    double sum = 0;
    for (int number = first; number < kRecords; number += g_children) {
        fully(read, records);
        sum += score_record();
    }
    g_record[0] = sum;
    fully(write_part, results);
    exit(0);
}

int main(void) {
#ifdef CURED
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    g_children = cpus < kMostChildren ? (int)cpus : kMostChildren;
#endif
    int records[kMostChildren][2], results[kMostChildren][2];
    for (int child = 0; child < g_children; child++) {
        if (pipe(records[child]) != 0 || pipe(results[child]) != 0)
            return 1;
        if (fork() == 0)
            score_all(records[child][0], results[child][1], child);
    }
    for (int number = 0; number < kRecords; number++) {
        make_record(number);
        fully(write_part, records[number % g_children][1]);
    }
    double sum = 0;
    for (int child = 0; child < g_children; child++) {
        fully(read, results[child][0]);
        sum += g_record[0];
        wait(NULL);
    }
    printf("%.3f\n", sum);
    return 0;
}
