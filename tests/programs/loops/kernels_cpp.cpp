// Loops as C++ writes them: see kernels.h.
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <span>
#include <vector>

#ifdef CURED
#define SUM_OF(total) _Pragma("omp simd reduction(+ : s)")
#else
#define SUM_OF(total)
#endif
#define KERNEL [[gnu::noinline]]

namespace {

KERNEL void vector_axpy(double a, const std::vector<double>& x, std::vector<double>& y) {
    for (size_t i = 0; i < x.size(); ++i)
        y[i] += a * x[i];
}

KERNEL double vector_sum(const std::vector<double>& x) {
#ifdef CURED
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < x.size(); ++i)
        s += x[i];
    return s;
#else
    return std::accumulate(x.begin(), x.end(), 0.0);
#endif
}

KERNEL double vector_product(const std::vector<double>& x, const std::vector<double>& y) {
#ifdef CURED
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < x.size(); ++i)
        s += x[i] * y[i];
    return s;
#else
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
#endif
}

KERNEL void vector_roots(const std::vector<float>& x, std::vector<float>& y) {
    std::transform(x.begin(), x.end(), y.begin(), [](float each) { return std::sqrt(each); });
}

struct Rod {
    std::vector<double> now, next;
    KERNEL void relax() {
        for (size_t i = 1; i + 1 < now.size(); ++i)
            next[i] = 0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
    }
};

KERNEL double kinetic_energy(std::span<const particle> particles) {
    double s = 0;
    SUM_OF(s)
    for (size_t i = 0; i < particles.size(); ++i) {
        const particle& each = particles[i];
        s += each.mass * (each.x * each.x + each.y * each.y + each.z * each.z);
    }
    return s;
}

KERNEL double sum_of_list(const std::list<double>& values) {
    double s = 0;
    for (const double value : values)
        s += value;
    return s;
}

struct Containers {
    std::vector<double> x, y;
    std::vector<float> f, g;
    Rod rod;
    std::list<double> list;
    explicit Containers(const arrays& from)
        : x(from.a, from.a + from.count), y(x), f(from.e, from.e + from.count), g(f), rod{x, x}, list(x.begin(), x.end()) {}
};

Containers& containers(const arrays* from) {
    static Containers made(*from);
    return made;
}

} // namespace

extern "C" const kernel kernels_cpp[] = {
    {"vector_axpy", [](const arrays* s) { vector_axpy(1e-9, containers(s).x, containers(s).y); }},
    {"vector_sum", [](const arrays* s) { result = vector_sum(containers(s).x); }},
    {"vector_product", [](const arrays* s) { result = vector_product(containers(s).x, containers(s).y); }},
    {"vector_roots", [](const arrays* s) { vector_roots(containers(s).f, containers(s).g); }},
    {"relax", [](const arrays* s) { containers(s).rod.relax(); }},
    {"kinetic_energy", [](const arrays* s) { result = kinetic_energy({s->records, s->count}); }},
    {"sum_of_list", [](const arrays* s) { result = sum_of_list(containers(s).list); }},
    {nullptr, nullptr},
};
