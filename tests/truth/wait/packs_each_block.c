// Blocks are computed, and a child process packs each of them. Planted: the parent waits for the child before it computes the
// next block. Cured: it computes the next block meanwhile.
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBlocks = 60, kSteps = 1500000 };

__attribute__((noinline)) static double compute_block(double value) {
    for (int step = 0; step < kSteps; step++)
        value = value * 0.998 + sqrt(value + step);
    return value;
}

__attribute__((noinline)) static double pack_block(double value) {
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step); // planted: child-wait
    return value;
}

int main(void) {
    double value = 1;
    for (int block = 0; block < kBlocks; block++) {
        value = compute_block(value);
#ifdef CURED
        if (block > 0)
            wait(NULL);
#endif
        const pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0)
            _exit(pack_block(value) < 0);
#ifndef CURED
        waitpid(child, NULL, 0);
#endif
    }
    while (wait(NULL) > 0)
        continue;
    printf("%.3f\n", value);
    return 0;
}
