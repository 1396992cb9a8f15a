/* Integrates samples of a file that was read as a whole: they begin behind its header of 12 bytes, so that one in eight crosses
   a line. Each step waits for the result of the last, which takes longer than a crossing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 12, SAMPLES = 4000, ROUNDS = 100000 };

int main(void) {
    char* file = calloc(1, HEADER + SAMPLES * sizeof(double));
    if (!file)
        return 1;
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const double value = i % 17;
        memcpy(file + HEADER + (size_t)i * sizeof value, &value, sizeof value);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SAMPLES; i++) {
            double value;
            memcpy(&value, file + HEADER + (size_t)i * sizeof value, sizeof value);
            sum = sum * 0.875 + value;
        }
    printf("%g\n", sum);
    free(file);
    return 0;
}
