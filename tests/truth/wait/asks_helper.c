// A helper process scores records that come through a pipe. Planted: the next record is prepared only when the answer to the one
// before has come, so that one of the two processes always waits. Cured: one request more is under way.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRecords = 700, kSteps = 130000 };
#ifdef CURED
enum { kUnderWay = 2 };
#else
enum { kUnderWay = 1 };
#endif

__attribute__((noinline)) static double score_of(double record) {
    double value = record;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step); // planted: pipe-wait
    return value;
}

__attribute__((noinline)) static double prepare(int record) {
    double value = record;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.998 + sqrt(value + step); // planted: pipe-wait
    return value;
}

static void help(int from, int to) {
    double record;
    while (read(from, &record, sizeof record) == sizeof record) {
        const double score = score_of(record);
        if (write(to, &score, sizeof score) != sizeof score)
            _exit(1);
    }
    _exit(0);
}

static double answer_from(int pipe) {
    double score;
    if (read(pipe, &score, sizeof score) != sizeof score)
        exit(1);
    return score;
}

int main(void) {
    int requests[2], answers[2];
    if (pipe(requests) != 0 || pipe(answers) != 0)
        return 1;
    if (fork() == 0) {
        close(requests[1]);
        close(answers[0]);
        help(requests[0], answers[1]);
    }
    close(requests[0]);
    close(answers[1]);
    double sum = 0;
    int under_way = 0;
    for (int record = 0; record < kRecords; record++) {
        const double prepared = prepare(record);
        if (under_way == kUnderWay) {
            sum += answer_from(answers[0]);
            under_way--;
        }
        if (write(requests[1], &prepared, sizeof prepared) != sizeof prepared)
            return 1;
        under_way++;
        if (kUnderWay == 1) {
            sum += answer_from(answers[0]);
            under_way--;
        }
    }
    for (; under_way > 0; under_way--)
        sum += answer_from(answers[0]);
    close(requests[1]);
    wait(NULL);
    printf("%.3f\n", sum);
    return 0;
}
