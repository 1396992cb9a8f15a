/* Computes, and writes a line to its log for each step: a hundred lines go into one write. */
#include <stdio.h>

int main(void) {
    FILE* log = fopen("log", "w");
    if (!log)
        return 1;
    static char buffer[1 << 14];
    setvbuf(log, buffer, _IOFBF, sizeof(buffer));
    double value = 1;
    for (int step = 0; step < 120000; step++) {
        for (int i = 0; i < 4000; i++)
            value = value * 0.99999 + 1e-3;
        fprintf(log, "step %d: %.6f\n", step, value);
    }
    return fclose(log);
}
