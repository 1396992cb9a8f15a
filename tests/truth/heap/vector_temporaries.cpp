// Integrates coupled oscillators with small vectors. Planted: each operator returns a vector of its own.
#include <cstddef>
#include <cstdio>
#include <vector>

using Vector = std::vector<double>;
constexpr size_t kSize = 24;

static Vector sum(const Vector& left, const Vector& right, double factor) {
    Vector result(left.size()); // planted: heap-bound
    for (size_t i = 0; i < left.size(); i++)
        result[i] = left[i] + factor * right[i];
    return result;
}

[[maybe_unused]] static void add(Vector& left, const Vector& right, double factor) {
    for (size_t i = 0; i < left.size(); i++)
        left[i] += factor * right[i];
}

static void step(Vector& place, Vector& speed, Vector& force) {
    for (size_t i = 0; i < kSize; i++)
        force[i] = place[(i + 1) % kSize] - 2 * place[i] + place[(i + kSize - 1) % kSize];
#ifdef CURED
    add(speed, force, 0.01);
    add(place, speed, 0.01);
    add(speed, place, -0.0001);
#else
    speed = sum(speed, force, 0.01);
    place = sum(place, speed, 0.01);
    speed = sum(speed, place, -0.0001);
#endif
}

int main() {
    Vector place(kSize), speed(kSize), force(kSize);
    place[3] = 1;
    for (int i = 0; i < 20'000'000; i++)
        step(place, speed, force);
    std::printf("%g %g\n", place[7], sum(place, speed, 1)[0]);
}
