#include "scale/pairs.h"

#include <algorithm>

namespace plumb::scale {

namespace {
constexpr size_t kLeastPairs = 6; // of statistics::paired_difference_of()
}

BothPoints figures_of_both(const ScalePoint& base, const ScalePoint& other,
                           const std::function<double(const RunFacts&)>& figure) {
    BothPoints both;
    for (size_t i = 0; i < base.runs.size(); ++i)
        if (const auto beside = std::ranges::find(other.runs, base.runs[i].round, &repeat::SeriesRun::round);
            beside != other.runs.end()) {
            both.base.push_back(figure(base.facts[i]));
            both.other.push_back(figure(other.facts[static_cast<size_t>(beside - other.runs.begin())]));
        }
    both.is_paired = both.base.size() >= kLeastPairs;
    if (both.is_paired)
        return both;
    both.base.clear();
    both.other.clear();
    for (const RunFacts& one : base.facts)
        both.base.push_back(figure(one));
    for (const RunFacts& one : other.facts)
        both.other.push_back(figure(one));
    return both;
}

statistics::Shift shift_between(const BothPoints& both) {
    return both.is_paired ? statistics::paired_shift_of(both.base, both.other) : statistics::shift_of(both.base, both.other);
}

statistics::Difference difference_between(const BothPoints& both) {
    return both.is_paired ? statistics::paired_difference_of(both.base, both.other)
                          : statistics::difference_of(both.base, both.other);
}

} // namespace plumb::scale
