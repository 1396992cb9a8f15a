/* Particles in records, updated in place. Planted: the records are packed, so that each access lies somewhere and some cross
   lines; stores that do take longer than the rest of the loop hides. Cured: the compiler lays them out. */
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define PACKED
#else
#define PACKED __attribute__((packed))
#endif

struct PACKED particle {
    char kind;
    double place[3], speed[3];
    float charge;
};

enum { COUNT = 3000, STEPS = 160000 };

static void advance(struct particle* particles, double step) {
    for (int i = 0; i < COUNT; i++)
        for (int d = 0; d < 3; d++) {
            particles[i].speed[d] = particles[i].speed[d] * 0.999 + particles[i].charge * step; /* planted: line-split-access */
            particles[i].place[d] += particles[i].speed[d] * step;                              /* planted: line-split-access */
        }
}

int main(void) {
    struct particle* particles = calloc(COUNT, sizeof(*particles));
    for (int i = 0; i < COUNT; i++) {
        particles[i].kind = (char)(i % 3);
        particles[i].charge = (float)(i % 7) - 3;
    }
    for (int step = 0; step < STEPS; step++)
        advance(particles, 1e-4);
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += particles[i].place[0] * particles[i].kind;
    printf("%g\n", sum);
    free(particles);
    return 0;
}
