#include "probe/judge/slow_cpus.h"

#include "probe/judge/figures.h"
#include "statistics/difference.h"

#include <algorithm>

namespace plumb::probe {

namespace {

constexpr double kFalseProbes = 0.05;

// Rounds in which this CPU and another one were measured, side by side.
struct SideBySide {
    std::vector<double> others, own;
};

template <class Value> SideBySide side_by_side(const std::vector<CpuTurns>& cpus, size_t own, Value&& value) {
    SideBySide result;
    for (size_t round = 0;; ++round) {
        const double mine = value(cpus[own], round);
        std::vector<double> others;
        bool is_over = true;
        for (size_t i = 0; i < cpus.size(); ++i)
            if (const double theirs = value(cpus[i], round); theirs >= 0 || std::isnan(theirs)) {
                is_over = false;
                if (i != own && theirs > 0)
                    others.push_back(theirs);
            }
        if (is_over)
            return result;
        if (mine > 0 && !others.empty()) {
            result.own.push_back(mine);
            result.others.push_back(statistics::median_of(others));
        }
    }
}

// -1: there is no such round.
double by_wall_clock(const CpuTurns& cpu, CpuTest test, size_t round) {
    if (round >= cpu.of(test).size())
        return -1;
    const Turn& turn = cpu.of(test)[round];
    return test == CpuTest::clock && turn.is_measured() ? turn.best_ns : turn.wall_of_one_ns();
}

double in_cpu_time(const CpuTurns& cpu, CpuTest test, size_t round) {
    if (round >= cpu.of(test).size())
        return -1;
    return test == CpuTest::clock ? by_wall_clock(cpu, test, round) : cpu.of(test)[round].cpu_of_one_ns();
}

SlowCpu::Cause cause_of(double slowdown, double cpu_slowdown, double limit) {
    const double waits = slowdown / cpu_slowdown;
    if (cpu_slowdown < 1 + limit / 2)
        return SlowCpu::Cause::others;
    return waits < 1 + limit / 2 ? SlowCpu::Cause::itself : SlowCpu::Cause::both;
}

} // namespace

std::vector<SlowCpu> slow_cpus(const std::vector<CpuTurns>& cpus, double limit) {
    std::vector<SlowCpu> slow;
    if (cpus.size() < 2)
        return slow;
    const double tail = kFalseProbes / static_cast<double>(cpus.size() * kCpuTests);
    std::vector<double> shares;
    for (const CpuTurns& cpu : cpus)
        shares.push_back(share_of_cpu(cpu));
    for (size_t own = 0; own < cpus.size(); ++own)
        for (const CpuTest test : kAllCpuTests) {
            const SideBySide wall =
                side_by_side(cpus, own, [test](const CpuTurns& cpu, size_t round) { return by_wall_clock(cpu, test, round); });
            if (wall.own.empty())
                continue;
            const statistics::Difference difference = statistics::paired_difference_of(wall.others, wall.own, tail);
            if (!difference.is_known || difference.low <= 1 + limit)
                continue;
            const SideBySide in_cpu =
                side_by_side(cpus, own, [test](const CpuTurns& cpu, size_t round) { return in_cpu_time(cpu, test, round); });
            SlowCpu one{.cpu = cpus[own].cpu, .test = test,
                        .slowdown = difference.ratio, .low = difference.low, .high = difference.high,
                        .cpu_slowdown = statistics::paired_difference_of(in_cpu.others, in_cpu.own).ratio, .share = shares[own],
                        .share_of_others = 1, .cause = SlowCpu::Cause::itself};
            std::vector<double> other_shares(shares);
            other_shares.erase(other_shares.begin() + static_cast<std::ptrdiff_t>(own));
            one.share_of_others = statistics::median_of(other_shares);
            one.cause = cause_of(one.slowdown, one.cpu_slowdown, limit);
            const bool had_its_share = one.share * (1 + limit) > one.share_of_others;
            if (one.cause == SlowCpu::Cause::others && had_its_share)
                continue;
            slow.push_back(one);
        }
    std::ranges::stable_sort(slow, std::greater<>{}, &SlowCpu::slowdown);
    return slow;
}

} // namespace plumb::probe
