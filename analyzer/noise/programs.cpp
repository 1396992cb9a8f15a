#include "noise/programs.h"

#include <algorithm>
#include <set>

namespace plumb::noise {

namespace {

constexpr double kLeastOfMost = 0.1, kLeastAccounted = 0.5;

// Time lost on one CPU up to any moment.
class LostTime {
  public:
    void add(uint64_t begin_ns, uint64_t end_ns) { // by begin
        begins_.push_back(begin_ns);
        ends_.push_back(end_ns);
        sums_ns_.push_back((sums_ns_.empty() ? 0 : sums_ns_.back()) + static_cast<double>(end_ns - begin_ns));
    }
    double total_s() const { return sums_ns_.empty() ? 0 : sums_ns_.back() * 1e-9; }
    double between_s(uint64_t begin_ns, uint64_t end_ns) const { return (until(end_ns) - until(begin_ns)) * 1e-9; }

  private:
    double until(uint64_t moment_ns) const {
        const auto after = static_cast<size_t>(std::ranges::upper_bound(begins_, moment_ns) - begins_.begin());
        if (after == 0)
            return 0;
        const double not_yet = ends_[after - 1] > moment_ns ? static_cast<double>(ends_[after - 1] - moment_ns) : 0;
        return sums_ns_[after - 1] - not_yet;
    }
    std::vector<uint64_t> begins_, ends_;
    std::vector<double> sums_ns_;
};

bool stays_on_one_cpu(const model::OtherProcess& other) {
    return other.allowed_cpus.size() == 1 || std::ranges::all_of(other.activities, [&](const auto& activity) {
               return activity.cpu == other.activities.front().cpu;
           });
}

} // namespace

std::map<int, std::vector<ProgramShare>> programs_by_cpu(const model::Host& host, std::vector<LostCpu> lost) {
    std::ranges::sort(lost, {}, &LostCpu::begin_ns);
    std::map<int, LostTime> by_cpu;
    for (const LostCpu& one : lost)
        by_cpu[one.cpu].add(one.begin_ns, one.end_ns);

    std::map<int, std::map<size_t, double>> taken_s;
    // Of processes that used CPU time in the same interval, each accounts for as much as it used of the time lost in it, and
    // all together for no more than that.
    for (const auto& [cpu, lost_time] : by_cpu) {
        for (size_t i = 0; i < host.others.size(); ++i) {
            const model::OtherProcess& other = host.others[i];
            if (other.leaves_cpus || (!other.allowed_cpus.empty() && !std::ranges::binary_search(other.allowed_cpus, cpu)))
                continue;
            const bool stays = stays_on_one_cpu(other);
            for (const auto& activity : other.activities) {
                if (stays && activity.cpu != cpu)
                    continue;
                const double here_s = lost_time.between_s(activity.begin_ns, activity.end_ns);
                double everywhere_s = here_s;
                if (!stays) { // it may have been on any CPU that was lost meanwhile
                    everywhere_s = 0;
                    for (const auto& [each, time] : by_cpu)
                        everywhere_s += time.between_s(activity.begin_ns, activity.end_ns);
                }
                if (here_s > 0 && everywhere_s > 0)
                    taken_s[cpu][i] += std::min(here_s, static_cast<double>(activity.cpu_ns) * 1e-9 * here_s / everywhere_s);
            }
        }
    }

    std::map<int, std::vector<ProgramShare>> result;
    for (const auto& [cpu, times] : taken_s) {
        double sum_s = 0, most_s = 0;
        for (const auto& [other, time_s] : times) {
            sum_s += time_s;
            most_s = std::max(most_s, time_s);
        }
        const double total_s = by_cpu[cpu].total_s();
        if (sum_s < kLeastAccounted * total_s)
            continue;
        std::vector<ProgramShare>& shares = result[cpu];
        for (const auto& [other, time_s] : times)
            if (time_s >= kLeastOfMost * most_s)
                shares.push_back({other, time_s * std::min(1.0, total_s / sum_s)});
        std::ranges::stable_sort(shares, std::ranges::greater(), &ProgramShare::taken_s);
    }
    return result;
}

} // namespace plumb::noise
