#include "simulate/duration_draw.h"
#include "simulate/event_train.h"
#include "simulate/noise_machines.h"
#include "simulate/random_numbers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

using namespace plumb;
using namespace plumb::simulate;

namespace {

std::vector<double> begins_of(const EventTrain& train, uint64_t source, double from_s, double to_s) {
    std::vector<double> begins;
    train.for_each(source, from_s, to_s, [&](int64_t, double begin_s) { begins.push_back(begin_s); });
    std::ranges::sort(begins);
    return begins;
}

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments_of(const std::vector<double>& values) {
    Moments result;
    for (const double value : values)
        result.mean += value / static_cast<double>(values.size());
    for (const double value : values)
        result.deviation += (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
    result.deviation = std::sqrt(result.deviation);
    return result;
}

std::vector<double> intervals_of(const std::vector<double>& begins) {
    std::vector<double> intervals(begins.size());
    std::adjacent_difference(begins.begin(), begins.end(), intervals.begin());
    intervals.erase(intervals.begin());
    return intervals;
}

std::vector<double> lengths_of(const model::NoiseDuration& duration) {
    std::vector<double> lengths;
    for (uint64_t i = 0; i < 100'000; i++)
        lengths.push_back(drawn_length_s(duration, key_of(7, i)));
    return lengths;
}

} // namespace

TEST_CASE("a periodic train begins once a period, from a moment of each source's own") {
    const auto one = noise_class("tick", 0.125, 0.001);
    const EventTrain train(one, 1);
    const auto begins = begins_of(train, 3, 0, 125);
    CHECK(begins.size() == 1000);
    for (const double interval_s : intervals_of(begins))
        CHECK(interval_s == Approx(0.125));
    CHECK(begins.front() != begins_of(train, 4, 0, 125).front());
    CHECK(begins != begins_of(EventTrain(one, 2), 3, 0, 125));
}

TEST_CASE("intervals of a periodic train with jitter have the jitter as their deviation") {
    auto one = noise_class("tick", 2, 0.001);
    one.jitter = 0.1;
    const auto moments = moments_of(intervals_of(begins_of(EventTrain(one, 1), 0, 0, 100'000)));
    CHECK(moments.mean == Approx(2).epsilon(0.001));
    CHECK(moments.deviation == Approx(0.2).epsilon(0.02));
}

TEST_CASE("intervals of a Poisson process are exponential") {
    auto one = noise_class("page", 2, 0.001);
    one.regularity = model::NoiseClass::Regularity::poisson;
    const auto intervals = intervals_of(begins_of(EventTrain(one, 1), 0, 0, 100'000));
    const auto moments = moments_of(intervals);
    CHECK(moments.mean == Approx(2).epsilon(0.02));
    CHECK(moments.deviation == Approx(2).epsilon(0.02));
    const auto longer = std::ranges::count_if(intervals, [](double interval_s) { return interval_s > 4; });
    CHECK(static_cast<double>(longer) / static_cast<double>(intervals.size()) == Approx(std::exp(-2)).epsilon(0.05));
}

TEST_CASE("the events of a time are the same however it is cut") {
    for (const bool is_poisson : {false, true})
        for (const double jitter : {0.0, 0.3, 1.0}) {
            auto one = noise_class("x", 0.01, 0.001);
            one.jitter = jitter;
            one.regularity = is_poisson ? model::NoiseClass::Regularity::poisson : model::NoiseClass::Regularity::periodic;
            const EventTrain train(one, 5);
            std::vector<double> parts;
            for (int i = 0; i < 300; i++)
                for (const double begin_s : begins_of(train, 9, i * 0.0037, (i + 1) * 0.0037))
                    parts.push_back(begin_s);
            CHECK(parts == begins_of(train, 9, 0, 300 * 0.0037));
        }
}

TEST_CASE("a class that happens together begins at the same moments everywhere, with lengths of each place's own") {
    auto one = noise_class("sweep", 1, 0.01);
    one.phase = model::NoiseClass::Phase::together;
    one.duration.shape = model::NoiseDuration::Shape::exponential;
    const EventTrain train(one, 1);
    CHECK(begins_of(train, 1, 0, 50) == begins_of(train, 2, 0, 50));
    CHECK(train.length_s(1, 7) != train.length_s(2, 7));
}

TEST_CASE("lengths have the mean and the spread of their class and stay below the longest") {
    using Shape = model::NoiseDuration::Shape;
    const auto check = [](const model::NoiseDuration& duration, double mean_s, double deviation_s) {
        const auto lengths = lengths_of(duration);
        const auto moments = moments_of(lengths);
        CHECK(moments.mean == Approx(mean_s).epsilon(0.01));
        CHECK(moments.deviation == Approx(deviation_s).epsilon(0.02).margin(1e-9));
        CHECK(std::ranges::max(lengths) <= longest_length_s(duration));
        CHECK(std::ranges::min(lengths) >= 0);
    };
    check({Shape::constant, 0.002, 0, {}}, 0.002, 0);
    check({Shape::uniform, 0.002, 0.001, {}}, 0.002, 0.001);
    check({Shape::normal, 0.002, 0.0004, {}}, 0.002, 0.0004);
    check({Shape::exponential, 0.002, 0, {}}, 0.002, 0.002);
    // Between 1 and 2, and between 2 and 4, with the same probability.
    check({Shape::measured, 2.25, 0, {1, 2, 4}}, 2.25, std::sqrt((7.0 / 3 + 28.0 / 3) / 2 - 2.25 * 2.25));
}

TEST_CASE("each CPU of a node is chosen as often") {
    const auto one = noise_class("d", 1, 0.01);
    const EventTrain train(one, 1);
    std::vector<int> counts(4);
    for (int64_t i = 0; i < 40'000; i++)
        counts[train.chosen(5, i, 4)]++;
    for (const int count : counts)
        CHECK(count == Approx(10'000).epsilon(0.05));
}
