#include "probe/judge/against.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::probe {

namespace {

double slowdown_between(const Figure& before, const Figure& now) {
    const double ratio = before.spread.median > 0 ? now.spread.median / before.spread.median : 1;
    return is_rate(now.unit) && ratio > 0 ? 1 / ratio : ratio;
}

bool overlap(const statistics::Spread& one, const statistics::Spread& other) {
    return one.low <= other.high && other.low <= one.high;
}

} // namespace

bool Against::is_slower() const { return std::ranges::any_of(changes, &Change::is_slower); }

Against compare_with(const EarlierProbe& earlier, const EarlierProbe& now, double limit) {
    Against against{earlier, {}, {}};
    const auto changed = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after)
            against.machine.push_back(fmt::format("{}: {} before, {} now", what, before, after));
    };
    changed("host", earlier.host, now.host);
    changed("kernel", earlier.kernel, now.kernel);
    changed("CPU model", earlier.cpu_model, now.cpu_model);
    changed("CPUs of the machine", std::to_string(earlier.cpu_count), std::to_string(now.cpu_count));
    changed("CPUs probed", earlier.cpus, now.cpus);
    for (const Figure& figure : now.figures) {
        const Figure* const before = find(earlier.figures, figure.test, figure.place);
        if (!before || before->unit != figure.unit)
            continue;
        Change change{*before, figure, slowdown_between(*before, figure), false, false};
        const bool is_certain = before->spread.is_known && figure.spread.is_known && !overlap(before->spread, figure.spread);
        change.is_slower = is_certain && change.slowdown > 1 + limit;
        change.is_faster = is_certain && change.slowdown < 1 / (1 + limit);
        against.changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(against.changes, std::greater<>{}, &Change::slowdown);
    return against;
}

} // namespace plumb::probe
