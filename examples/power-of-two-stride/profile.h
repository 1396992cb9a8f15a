// The mean of each column of a field, again and again while the field changes: down the columns of an array that lies
// row by row in memory. ROW_LENGTH: doubles from one row to the next, at least WIDTH.
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 2048, HEIGHT = 512 };

static double field[HEIGHT][ROW_LENGTH];

static void fill(void) {
    for (int row = 0; row < HEIGHT; ++row)
        for (int column = 0; column < WIDTH; ++column)
            field[row][column] = row + 1e-3 * column;
}

static double column_mean(int column) {
    double sum = 0;
    for (int row = 0; row < HEIGHT; ++row)
        sum += field[row][column];
    return sum / HEIGHT;
}

int main(int count, char** words) {
    const int steps = count > 1 ? atoi(words[1]) : 500;
    double mean = 0;
    fill();
    for (int step = 0; step < steps; ++step) {
        mean = 0;
        for (int column = 0; column < WIDTH; ++column)
            mean += column_mean(column) / WIDTH;
        field[step % HEIGHT][step % WIDTH] += mean;
    }
    printf("%d steps, mean %.6f\n", steps, mean);
    return 0;
}
