/* Pair energies of charges: charge i meets all charges before it, so that its share of the pairs grows with i. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHARGES = 12000 };

static double place[CHARGES], energy[CHARGES];

static void put_charges(void) {
    for (int i = 0; i < CHARGES; i++)
        place[i] = i + 0.25 * sin(i);
}

static double energy_of(int i) {
    double sum = 0;
    for (int j = 0; j < i; j++)
        sum += 1 / sqrt(1e-3 + (place[i] - place[j]) * (place[i] - place[j]));
    return sum;
}

static void print_energy(void) {
    double all = 0;
    for (int i = 0; i < CHARGES; i++)
        all += energy[i];
    printf("%.6e\n", all);
}
