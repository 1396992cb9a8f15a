#include "record/heap/heap_sampling.h"

#include <string.h>

namespace plumb::shim {
namespace {

constexpr uint32_t kSamplesPerPace = 64;
constexpr uint64_t kShortestPaceNs = 256'000'000; // 250 samples a second, of 5 to 10 us each
constexpr uint64_t kMostMeanBytes = 16 * 1024 * 1024;
constexpr double kLn2 = 0.69314718055994530942;

// Natural logarithm of x > 0: x = m 2^e with 1 <= m < 2, ln m = 2 artanh((m - 1) / (m + 1)).
double natural_logarithm(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = static_cast<int>(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | uint64_t{1023} << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double s = (m - 1) / (m + 1), square = s * s;
    double sum = 0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * kLn2 + 2 * s * sum;
}

// 1 - exp(-x) for x >= 0, without cancellation for small x.
double hit_probability(double x) {
    if (x > 40)
        return 1;
    int halvings = 0;
    while (x > 0.25) {
        x /= 2;
        ++halvings;
    }
    double p = 0; // x - x^2/2! + x^3/3! - ..., by Horner
    for (int k = 10; k >= 1; --k)
        p = x / k * (1 - p);
    for (; halvings > 0; --halvings)
        p = p * (2 - p); // 1 - (1 - p)^2
    return p;
}

// Uniform in (0, 1].
double uniform(uint64_t* random) {
    return static_cast<double>((next_random(random) >> 11) + 1) * (1.0 / 9007199254740992.0);
}

} // namespace

uint64_t next_random(uint64_t* state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t sampling_distance(uint64_t* random, uint64_t mean_bytes) {
    return 1 + static_cast<uint64_t>(-natural_logarithm(uniform(random)) * static_cast<double>(mean_bytes));
}

void SamplingPace::begin(uint64_t least_mean_bytes, bool is_fixed) {
    mean_bytes_ = least_bytes_ = least_mean_bytes;
    begin_ns_ = 0;
    samples_ = 0;
    is_fixed_ = is_fixed;
}

void SamplingPace::sampled(uint64_t now_ns) {
    if (is_fixed_ || (samples_++ % kSamplesPerPace != 0))
        return;
    if (begin_ns_ != 0) {
        const uint64_t taken_ns = now_ns - begin_ns_;
        if (taken_ns < kShortestPaceNs && mean_bytes_ < kMostMeanBytes)
            mean_bytes_ *= 2;
        else if (taken_ns > 4 * kShortestPaceNs && mean_bytes_ > least_bytes_)
            mean_bytes_ /= 2;
    }
    begin_ns_ = now_ns;
}

uint64_t sampling_weight(uint64_t* random, uint64_t bytes, uint64_t mean_bytes) {
    const double p = hit_probability(static_cast<double>(bytes) / static_cast<double>(mean_bytes));
    return static_cast<uint64_t>(1 / p + 1 - uniform(random));
}

} // namespace plumb::shim
