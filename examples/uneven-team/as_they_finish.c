/* The cure: threads take charges in small pieces, as they finish. */
#include "pairs.h"

static void compute(void) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < CHARGES; i++)
        energy[i] += energy_of(i);
}

int main(int count, char **arguments) {
    const int steps = count > 1 ? atoi(arguments[1]) : 5;
    put_charges();
    for (int step = 0; step < steps; step++)
        compute();
    print_energy();
    return 0;
}
