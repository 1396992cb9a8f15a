// Bodies fall in a field. Planted: threads take them one by one; GCC says that the
// next one is taken on the loop's last line. Cured: in an equal part each.
#include <math.h>
#include <stdio.h>

enum { kBodies = 300000, kSteps = 60 };

static double g_height[kBodies], g_speed[kBodies];

int main(void) {
    double lowest = 0;
    for (int body = 0; body < kBodies; body++)
        g_height[body] = 1 + (body % 997) * 0.001;
    for (int step = 0; step < kSteps; step++)
#ifdef CURED
#pragma omp parallel for schedule(static)
#else
#pragma omp parallel for schedule(dynamic, 1)
#endif
        for (int body = 0; body < kBodies; body++) {
            const double height = g_height[body], pull = 1 / (height * height * sqrt(height + 1));
            g_speed[body] -= 1e-6 * pull / (1 + exp(-height));
            g_height[body] = fabs(height + 1e-3 * g_speed[body]) + 1e-9; // planted: omp-granularity
        }
    for (int body = 0; body < kBodies; body++)
        lowest = fmin(lowest, g_speed[body]);
    printf("%.9f\n", lowest);
    return 0;
}
