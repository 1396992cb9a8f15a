// Particles in a periodic box that push each other apart over short distances: what both versions of the example share.
#pragma once

#include <cmath>
#include <cstdlib>
#include <vector>

struct Particle {
    float x, y, fx, fy;
};

constexpr int kCells = 64; // along each side of the box
constexpr float kCell = 1.0f;
constexpr float kBox = kCells * kCell;

inline std::vector<Particle> make_particles(int count) {
    std::vector<Particle> particles;
    unsigned state = 12345;
    const auto next = [&] {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / static_cast<float>(1 << 24) * kBox;
    };
    for (int i = 0; i < count; i++) {
        const float x = next();
        particles.push_back({x, next(), 0, 0});
    }
    return particles;
}

inline int cell_of(const Particle& particle) {
    const int column = static_cast<int>(particle.x / kCell) % kCells, row = static_cast<int>(particle.y / kCell) % kCells;
    return row * kCells + column;
}

// Force of `other` on `particle`, linear and only within one cell's width.
inline void push(Particle& particle, const Particle& other) {
    const float dx = particle.x - other.x, dy = particle.y - other.y;
    const float squared = dx * dx + dy * dy;
    if (squared > kCell * kCell || squared == 0)
        return;
    const float strength = (kCell - std::sqrt(squared)) * 0.01f;
    particle.fx += strength * dx;
    particle.fy += strength * dy;
}

inline float wrap(float position) {
    return position < 0 ? position + kBox : position >= kBox ? position - kBox : position;
}

inline void move(std::vector<Particle>& particles) {
    for (Particle& particle : particles) {
        particle.x = wrap(particle.x + particle.fx);
        particle.y = wrap(particle.y + particle.fy);
        particle.fx = particle.fy = 0;
    }
}

inline double checksum(const std::vector<Particle>& particles) {
    double sum = 0;
    for (const Particle& particle : particles)
        sum += particle.x + 2 * particle.y;
    return sum;
}
