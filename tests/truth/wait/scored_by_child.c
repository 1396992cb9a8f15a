// A parent makes records and writes them to a pipe; a child reads them and scores each, which takes three times as long. The pipe is
// full all the time. Cured: two children, each with a pipe of its own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    kRecords = 3000,
    kValues = 512, // one page a record
    kSteps = 40000,
#ifdef CURED
    kChildren = 2
#else
    kChildren = 1
#endif
};

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
    for (int number = first; number < kRecords; number += kChildren) {
        fully(read, records);
        sum += score_record();
    }
    g_record[0] = sum;
    fully(write_part, results);
    exit(0);
}

int main(void) {
    int records[kChildren][2], results[kChildren][2];
    for (int child = 0; child < kChildren; child++) {
        if (pipe(records[child]) != 0 || pipe(results[child]) != 0)
            return 1;
        if (fork() == 0)
            score_all(records[child][0], results[child][1], child);
    }
    for (int number = 0; number < kRecords; number++) {
        make_record(number);
        fully(write_part, records[number % kChildren][1]);
    }
    double sum = 0;
    for (int child = 0; child < kChildren; child++) {
        fully(read, results[child][0]);
        sum += g_record[0];
        wait(NULL);
    }
    printf("%.3f\n", sum);
    return 0;
}
