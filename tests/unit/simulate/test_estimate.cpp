#include "simulate/estimate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace plumb::simulate;

TEST_CASE("a mean over seeds has the confidence interval of Student's t") {
    const std::vector<double> values{1, 2, 3, 4, 5};
    CHECK(estimate_of(values).mean == Approx(3));
    CHECK(estimate_of(values).half_width == Approx(2.776 * 1.5811388 / 2.2360680)); // 4 degrees of freedom
    const std::vector<double> one{7};
    CHECK(estimate_of(one).mean == 7);
    CHECK(estimate_of(one).half_width == 0);
    std::vector<double> many;
    for (int i = 0; i < 21; i++)
        many.push_back(i % 2 ? 1 : -1); // of 20 degrees of freedom t is 2.086
    double mean = -1.0 / 21, squares = 0;
    for (const double value : many)
        squares += (value - mean) * (value - mean);
    CHECK(estimate_of(many).half_width == Approx(2.086 * std::sqrt(squares / 20 / 21)).epsilon(0.0005));
}

TEST_CASE("a ratio of pairs is known better than its parts") {
    const std::vector<double> bases{1, 2, 3, 4}, halves{0.5, 1, 1.5, 2}, others{0.6, 1, 1.4, 2};
    CHECK(ratio_of(halves, bases).mean == Approx(0.5));
    CHECK(ratio_of(halves, bases).half_width == Approx(0).margin(1e-12));
    CHECK(ratio_of(others, bases).mean == Approx(0.5));
    CHECK(ratio_of(others, bases).half_width == Approx(3.182 * std::sqrt(0.02 / 3 / 4) / 2.5));
    const std::vector<double> nothing(4);
    CHECK(ratio_of(nothing, nothing).mean == 1);
}
