#include "compare/limit.h"

#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace plumb {

namespace {

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

const ComparedFigure& figure_of(const Limit& limit, const Comparison& comparison) {
    std::vector<std::string> names;
    for (const ComparedFigure* one : {&comparison.wall, &comparison.cpu}) {
        if (one->name == limit.figure)
            return *one;
        names.push_back(one->name);
    }
    for (const ComparedFigure& one : comparison.metrics) {
        if (one.name == limit.figure)
            return one;
        names.push_back(one.name);
    }
    throw UsageError(fmt::format("--fail-if \"{}\": these runs have no figure \"{}\" in common. There are: {}", limit.text, limit.figure,
                                 fmt::join(names, ", ")));
}

} // namespace

Limit parse_limit(const std::string& text) {
    const size_t sign = text.find_first_of("<>");
    const std::string figure = trimmed(text.substr(0, sign)), bound = sign == std::string::npos ? "" : trimmed(text.substr(sign + 1));
    double percent = 0;
    const char* const first = bound.data() + (bound.starts_with('+') ? 1 : 0);
    const char* const end = bound.data() + bound.size();
    const auto [rest, error] = std::from_chars(first, end, percent);
    if (figure.empty() || error != std::errc{} || std::string(rest, end) != "%" || !std::isfinite(percent) || percent <= -100)
        throw UsageError(fmt::format("--fail-if \"{}\": a figure and a change are needed, as \"wall > +3%\" or \"cpu < -10%\"", text));
    return {text, figure, text[sign] == '>', 1 + percent / 100};
}

bool is_broken(const Limit& limit, const Comparison& comparison) {
    const ComparedFigure& figure = figure_of(limit, comparison);
    const statistics::Difference& difference = figure.difference;
    if (std::fabs(limit.ratio - 1) < figure.least_change() * (1 - 1e-9))
        throw UsageError(fmt::format("--fail-if \"{}\": of times, rates and fractions a change below {:.1f} % does not count: where code "
                                     "and stack happen to lie makes as much. {:.1f} % is the smallest limit",
                                     limit.text, 100 * figure.least_change(), 100 * figure.least_change()));
    if (!difference.is_known)
        throw UsageError(fmt::format("--fail-if \"{}\": {} and {} runs are too few to distinguish a change from chance; four of each are "
                                     "enough, or six in turns",
                                     limit.text, difference.base_count, difference.other_count));
    return figure.has_changed() && (limit.is_upper ? difference.ratio > limit.ratio : difference.ratio < limit.ratio);
}

} // namespace plumb
