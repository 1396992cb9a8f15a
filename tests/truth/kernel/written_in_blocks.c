/* Computes and writes in large blocks. */
#include <stdio.h>

int main(void) {
    FILE* file = fopen("blocks", "w");
    if (!file)
        return 1;
    static double block[8192];
    for (int round = 0; round < 2400; round++) {
        for (int i = 0; i < 8192; i++)
            for (int k = 0; k < 100; k++)
                block[i] = block[i] * 0.99 + i * 0.5 + k;
        if (round % 20 == 0)
            fwrite(block, sizeof(double), 8192, file);
    }
    return fclose(file);
}
