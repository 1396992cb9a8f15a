// Two phases in one region: particles are moved, then binned. Planted: the first loop divides the particles by number, though
// those of the second half need three times as many steps. Cured: in small pieces.
#include <math.h>
#include <stdio.h>

enum { kParticles = 20000, kRounds = 180, kShort = 60, kLong = 180 };

static double g_place[kParticles];
static double g_bins[kParticles];

static double moved(double place, int steps) {
    for (int step = 0; step < steps; step++)
        place = sqrt(place * place + 0.001 * step);
    return place;
}

int main(void) {
#pragma omp parallel
    for (int round = 0; round < kRounds; round++) {
#ifdef CURED
#pragma omp for schedule(static, 8)
#else
#pragma omp for // planted: omp-imbalance
#endif
        for (int particle = 0; particle < kParticles; particle++)
            g_place[particle] = moved(particle, particle < kParticles / 2 ? kShort : kLong); // planted: omp-imbalance
#pragma omp for
        for (int particle = 0; particle < kParticles; particle++)
            g_bins[particle] += moved(g_place[particle], kShort / 4);
    }
    double all = 0;
    for (int particle = 0; particle < kParticles; particle++)
        all += g_bins[particle];
    printf("%.6e\n", all);
    return 0;
}
