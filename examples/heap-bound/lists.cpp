// lists [STEPS]: sorts the particles into cells in every step, each cell a new std::list. Every particle costs an
// allocation and a free in every step.
#include "particles.h"

#include <cstdio>
#include <list>

using Cells = std::vector<std::list<int>>;

static Cells sort_into_cells(const std::vector<Particle>& particles) {
    Cells cells(kCells * kCells);
    for (size_t i = 0; i < particles.size(); i++)
        cells[static_cast<size_t>(cell_of(particles[i]))].push_back(static_cast<int>(i));
    return cells;
}

static void push_apart(std::vector<Particle>& particles, const Cells& cells) {
    for (const std::list<int>& cell : cells)
        for (int i : cell)
            for (int j : cell)
                push(particles[static_cast<size_t>(i)], particles[static_cast<size_t>(j)]);
}

int main(int argc, char** argv) {
    std::vector<Particle> particles = make_particles(20000);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 1500;
    for (int step = 0; step < steps; step++) {
        const Cells cells = sort_into_cells(particles);
        push_apart(particles, cells);
        move(particles);
    }
    std::printf("%.3f\n", checksum(particles));
}
