// kept [STEPS]: the same as lists, but the cells are made once and emptied in every step: a vector keeps its memory.
#include "particles.h"

#include <cstdio>

using Cells = std::vector<std::vector<int>>;

static void sort_into_cells(const std::vector<Particle>& particles, Cells& cells) {
    for (std::vector<int>& cell : cells)
        cell.clear();
    for (size_t i = 0; i < particles.size(); i++)
        cells[static_cast<size_t>(cell_of(particles[i]))].push_back(static_cast<int>(i));
}

static void push_apart(std::vector<Particle>& particles, const Cells& cells) {
    for (const std::vector<int>& cell : cells)
        for (int i : cell)
            for (int j : cell)
                push(particles[static_cast<size_t>(i)], particles[static_cast<size_t>(j)]);
}

int main(int argc, char** argv) {
    std::vector<Particle> particles = make_particles(20000);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 1500;
    Cells cells(kCells * kCells);
    for (int step = 0; step < steps; step++) {
        sort_into_cells(particles, cells);
        push_apart(particles, cells);
        move(particles);
    }
    std::printf("%.3f\n", checksum(particles));
}
