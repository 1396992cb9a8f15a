// `make | smooth | sum` of a shell, one program in three roles. The stage in the middle takes four times as long as the others, as
// it works out its weights again for each record. Cured: it works them out once.
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { kRecords = 1500, kValues = 512, kSteps = 30000 };

static double g_record[kValues], g_weights[kValues];

__attribute__((noinline)) static double work(double value) {
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

__attribute__((noinline)) static void find_weights(void) {
    for (int value = 0; value < kValues; value++) {
        double weight = value;
        for (int step = 0; step < 3 * kSteps / kValues; step++)
            weight = weight * 0.998 + sqrt(weight + step); // planted: slow-stage
        g_weights[value] = weight;
    }
}

static void make(void) {
    for (int number = 0; number < kRecords; number++) {
        g_record[number % kValues] = work(number);
        fwrite(g_record, sizeof g_record, 1, stdout);
    }
}

static void smooth(void) {
#ifdef CURED
    find_weights();
#endif
    while (fread(g_record, sizeof g_record, 1, stdin) == 1) {
#ifndef CURED
        find_weights();
#endif
        for (int value = 0; value < kValues; value++)
            g_record[value] *= g_weights[value];
        g_record[0] += work(g_record[1]);
        fwrite(g_record, sizeof g_record, 1, stdout);
    }
}

static void sum(void) {
    double all = 0;
    while (fread(g_record, sizeof g_record, 1, stdin) == 1)
        all += work(g_record[0]);
    printf("%.3f\n", all);
}

int main(int count, char** arguments) {
    const char* role = count > 1 ? arguments[1] : "";
    if (strcmp(role, "make") == 0)
        make();
    else if (strcmp(role, "smooth") == 0)
        smooth();
    else
        sum();
    return 0;
}
