// Laws that are fitted to curves made by them.
#include "scale/fit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace plumb::scale;

namespace {

const std::vector<double> kParts{1, 2, 4, 8, 16, 32};

std::vector<CurvePoint> curve_of(const auto& law) {
    std::vector<CurvePoint> curve;
    for (const double parts : kParts)
        curve.push_back({parts, law.cost(parts)});
    return curve;
}

// So many rounds, each value off by a normal error of that share.
std::vector<std::vector<double>> rounds_of(const auto& law, size_t rounds, double error, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, error);
    std::vector<std::vector<double>> samples(rounds);
    for (std::vector<double>& round : samples)
        for (const double parts : kParts)
            round.push_back(law.cost(parts) * std::exp(noise(random)));
    return samples;
}

const Saturation kServesSix{1, 1.0 / 6, 0}; // at full speed
const Usl kStraight{1, 0, 0};

} // namespace

TEST_CASE("the Universal Scalability Law is found again in curves without noise") {
    for (const auto& [contention, coherence] : {std::pair{0.0, 0.0}, {0.05, 0.0}, {0.0, 0.002}, {0.1, 0.003}, {0.9, 0.0}}) {
        const Usl fit = fit_usl(curve_of(Usl{2.5, contention, coherence}));
        CHECK(fit.unit_s == Approx(2.5));
        CHECK(fit.contention == Approx(contention).margin(1e-9));
        CHECK(fit.coherence == Approx(coherence).margin(1e-9));
    }
}

TEST_CASE("neither part becomes negative where a curve is better than linear") {
    std::vector<CurvePoint> curve;
    for (const double parts : kParts)
        curve.push_back({parts, 1 / (1 + 0.01 * parts)});
    const Usl fit = fit_usl(curve);
    CHECK(fit.contention == 0);
    CHECK(fit.coherence == 0);
    CHECK(fit.unit_s > 0);
}

TEST_CASE("intervals hold the truth nearly always, and are as narrow as the noise", "[odds]") {
    const Usl truth{1, 0.08, 0.001};
    size_t contention_held = 0, coherence_held = 0, named = 0;
    constexpr size_t kTries = 40;
    for (size_t seed = 1; seed <= kTries; ++seed) {
        const auto fit = fit_curve(kParts, rounds_of(truth, 10, 0.03, seed));
        REQUIRE(fit);
        contention_held += fit->contention_95.low <= 0.08 && fit->contention_95.high >= 0.08;
        coherence_held += fit->coherence_95.low <= 0.001 && fit->coherence_95.high >= 0.001;
        named += fit->law == Law::usl;
        CHECK(fit->contention_95.high - fit->contention_95.low < 0.08);
    }
    CHECK(contention_held >= kTries * 8 / 10); // the percentile bootstrap of few rounds is somewhat too narrow
    CHECK(coherence_held >= kTries * 8 / 10);
    CHECK(named >= kTries * 8 / 10);
}

TEST_CASE("a shared resource that is full is found again in a curve without noise, and in none that does not bend") {
    const std::optional<Saturation> exact = fit_saturation(curve_of(kServesSix));
    REQUIRE(exact);
    CHECK(exact->served() == Approx(6));
    CHECK_FALSE(fit_saturation(curve_of(kStraight)));
    CHECK(fit_curve(kParts, rounds_of(kServesSix, 6, 0.02, 1)));
}

TEST_CASE("a shared resource that is full is not taken for contention", "[odds]") {
    size_t named = 0, wrong = 0;
    constexpr size_t kTries = 40;
    for (size_t seed = 1; seed <= kTries; ++seed) {
        const auto fit = fit_curve(kParts, rounds_of(kServesSix, 6, 0.02, seed));
        REQUIRE(fit);
        named += fit->law == Law::saturation;
        wrong += fit->law == Law::usl;
        CHECK(fit->served_95.low < 6.3);
        CHECK(fit->served_95.high > 5.7);
    }
    CHECK(named >= kTries * 9 / 10);
    CHECK(wrong == 0);
}

TEST_CASE("a curve that does not bend hardly ever has a saturation where runs scatter", "[odds]") {
    size_t wrong = 0;
    constexpr size_t kTries = 40;
    for (size_t seed = 1; seed <= kTries; ++seed)
        wrong += fit_curve(kParts, rounds_of(kStraight, 6, 0.02, seed))->law == Law::saturation;
    CHECK(wrong <= kTries / 20);
}

TEST_CASE("with fewer than four points no law is fitted; runs that are missing are left out") {
    const double none = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(fit_curve(std::vector<double>{1, 2, 4}, {{1, 1, 1}, {1, 1, 1}}));
    CHECK_FALSE(fit_curve(std::vector<double>{1, 2, 4, 8}, {{1, 1, 1, none}, {1, 1, 1, none}}));
    const auto fit = fit_curve(std::vector<double>{1, 2, 4, 8}, {{1, 1.1, none, 1.7}, {1, none, 1.3, 1.7}, {1, 1.1, 1.3, 1.7}});
    REQUIRE(fit);
    CHECK(fit->usl.contention == Approx(0.1));
    CHECK(fit->worst_deviation < 1e-6);
}

TEST_CASE("the exponent of a size") {
    std::vector<std::vector<double>> samples;
    for (size_t round = 0; round < 5; ++round)
        samples.push_back({0.01 * 100, 0.01 * 400, 0.01 * 1600});
    const auto fit = fit_growth(std::vector<double>{10, 20, 40}, samples);
    REQUIRE(fit);
    CHECK(fit->exponent == Approx(2));
    CHECK(fit->exponent_95.low == Approx(2));
    CHECK_FALSE(fit_growth(std::vector<double>{10, 20}, {{1, 2}}));
}
