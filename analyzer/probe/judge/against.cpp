#include "probe/judge/against.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::probe {

namespace {

// How many times slower, by one value of each.
double slowdown(Unit unit, double before, double now) {
    if (!(before > 0 && now > 0))
        return 1;
    return is_rate(unit) ? before / now : now / before;
}

Change change_between(const Figure& before, const Figure& now, double limit) {
    const statistics::Spread &then = before.spread, &today = now.spread;
    Change change{before, now, slowdown(now.unit, then.median, today.median), false, false};
    if (!then.is_known || !today.is_known)
        return change;
    const bool more_is_better = is_rate(now.unit);
    const double least = slowdown(now.unit, more_is_better ? then.low : then.high, more_is_better ? today.high : today.low);
    const double most = slowdown(now.unit, more_is_better ? then.high : then.low, more_is_better ? today.low : today.high);
    change.is_slower = least > 1 + limit;
    change.is_faster = most < 1 / (1 + limit);
    return change;
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
        against.changes.push_back(change_between(*before, figure, limit));
    }
    std::ranges::stable_sort(against.changes, std::greater<>{}, &Change::slowdown);
    return against;
}

} // namespace plumb::probe
