// A team computes on blocks that one thread reads from a file in between, while the others have nothing to do.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 1 << 18, kRounds = 40, kSteps = 12 };

static unsigned char g_block[kBlock];

int main(void) {
    double all = 0;
    const int zeros = open("/dev/zero", O_RDONLY);
    for (int round = 0; round < kRounds; round++) {
        const struct timespec device = {0, 8000000}; // what a disk would take
        nanosleep(&device, NULL);
        if (read(zeros, g_block, sizeof g_block) != (ssize_t)sizeof g_block)
            return 1;
#pragma omp parallel for reduction(+ : all)
        for (int byte = 0; byte < kBlock; byte++) {
            double value = g_block[byte] + byte;
            for (int step = 0; step < kSteps; step++)
                value = sqrt(value + step);
            all += floor(value * 16);
        }
    }
    printf("%.0f\n", all);
    return 0;
}
