// Forces are computed by a team, places are updated by one thread. Planted: the update is serial, although its parts do not
// depend on one another. Cured: it is a parallel loop, too.
#include <math.h>
#include <stdio.h>

enum { kBodies = 40000, kRounds = 40, kSteps = 120 };

static double g_force[kBodies], g_place[kBodies];

static double settled(double value) {
    for (int step = 0; step < kSteps; step++)
        value = sqrt(value * value + 0.01 * step);
    return value;
}

__attribute__((noinline)) static void compute_forces(void) {
#pragma omp parallel for
    for (int body = 0; body < kBodies; body++)
        g_force[body] = settled(g_place[body] + body);
}

__attribute__((noinline)) static void update_places(void) {
#ifdef CURED
#pragma omp parallel for
#endif
    for (int body = 0; body < kBodies; body++)
        g_place[body] += settled(g_force[body]); // planted: omp-serial
}

int main(void) {
    for (int round = 0; round < kRounds; round++) {
        compute_forces();
        update_places();
    }
    double all = 0;
    for (int body = 0; body < kBodies; body++)
        all += g_place[body];
    printf("%.6e\n", all);
    return 0;
}
