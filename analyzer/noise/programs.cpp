#include "noise/programs.h"

#include "noise/match_programs.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace plumb::noise {

namespace {

constexpr double kLeastOfMost = 0.1, kLeastAccounted = 0.5, kNearlyAll = 0.9;

// Time lost on one CPU up to any moment.
class LostTime {
  public:
    explicit LostTime(const std::vector<LostPiece>& pieces) : pieces_(pieces) {
        for (const LostPiece& piece : pieces)
            sums_ns_.push_back((sums_ns_.empty() ? 0 : sums_ns_.back()) + static_cast<double>(piece.end_ns - piece.begin_ns));
    }
    double between_s(uint64_t begin_ns, uint64_t end_ns) const { return (until(end_ns) - until(begin_ns)) * 1e-9; }

  private:
    double until(uint64_t moment_ns) const {
        const auto after = std::ranges::upper_bound(pieces_, moment_ns, {}, &LostPiece::begin_ns);
        if (after == pieces_.begin())
            return 0;
        const uint64_t end_ns = std::prev(after)->end_ns;
        return sums_ns_[static_cast<size_t>(after - pieces_.begin()) - 1] -
               (end_ns > moment_ns ? static_cast<double>(end_ns - moment_ns) : 0);
    }
    const std::vector<LostPiece>& pieces_;
    std::vector<double> sums_ns_;
};

// Two threads of the run may have waited for the same CPU at once.
std::map<int, std::vector<LostPiece>> pieces_by_cpu(std::vector<LostCpu> lost) {
    std::ranges::sort(lost, {}, &LostCpu::begin_ns);
    std::map<int, std::vector<LostPiece>> result;
    for (const LostCpu& one : lost) {
        std::vector<LostPiece>& pieces = result[one.cpu];
        if (!pieces.empty() && one.begin_ns < pieces.back().end_ns)
            pieces.back().end_ns = std::max(pieces.back().end_ns, one.end_ns);
        else if (one.end_ns > one.begin_ns)
            pieces.push_back({one.begin_ns, one.end_ns});
    }
    return result;
}

bool stays_on_one_cpu(const model::OtherProcess& other) {
    return other.allowed_cpus.size() == 1 || std::ranges::all_of(other.activities, [&](const auto& activity) {
               return activity.cpu == other.activities.front().cpu;
           });
}

struct UsedInterval { // of a process on one CPU
    size_t other = 0;
    uint64_t begin_ns = 0, end_ns = 0;
    double cpu_s = 0;
};

// What each process used of this CPU; one that moves may have been on any CPU that was lost meanwhile.
std::vector<UsedInterval> used_of_cpu(const model::Host& host, int cpu, const std::map<int, LostTime>& lost) {
    std::vector<UsedInterval> used;
    for (size_t i = 0; i < host.others.size(); ++i) {
        const model::OtherProcess& other = host.others[i];
        if (other.leaves_cpus || (!other.allowed_cpus.empty() && !std::ranges::binary_search(other.allowed_cpus, cpu)))
            continue;
        const bool stays = stays_on_one_cpu(other);
        for (const auto& activity : other.activities) {
            if (activity.end_ns <= activity.begin_ns || (stays && activity.cpu != cpu))
                continue;
            double share = 1;
            if (!stays) {
                double everywhere_s = 0;
                for (const auto& [each, time] : lost)
                    everywhere_s += time.between_s(activity.begin_ns, activity.end_ns);
                const double here_s = lost.at(cpu).between_s(activity.begin_ns, activity.end_ns);
                share = everywhere_s > 0 ? here_s / everywhere_s : 0;
            }
            if (share > 0)
                used.push_back({i, activity.begin_ns, activity.end_ns, static_cast<double>(activity.cpu_ns) * 1e-9 * share});
        }
    }
    return used;
}

class TakersOfCpu {
  public:
    TakersOfCpu(const model::Host& host, const std::vector<LostPiece>& pieces, const std::vector<UsedInterval>& used)
        : pieces_(pieces), used_(used) {
        std::map<std::string, uint32_t> numbers;
        for (const UsedInterval& one : used) {
            const auto number = numbers.try_emplace(host.others[one.other].name, static_cast<uint32_t>(numbers.size())).first;
            program_of_.push_back(number->second);
        }
        has_own_.assign(numbers.size(), false);
        whose_.assign(pieces.size(), kNoProgram);
        if (numbers.size() > 1 || (numbers.size() == 1 && accounted(shares(kNoProgram)) < kNearlyAll * not_own_s()))
            whose_ = match();
        for (const uint32_t program : whose_)
            if (program != kNoProgram)
                has_own_[program] = true;
    }

    CpuTakers result() const {
        CpuTakers result;
        std::map<uint32_t, uint32_t> taker_of; // by program
        for (uint32_t program = 0; program < has_own_.size(); ++program)
            if (has_own_[program]) {
                taker_of[program] = static_cast<uint32_t>(result.takers.size());
                result.takers.push_back(by_time(shares(program)));
            }
        std::vector<size_t> together = those_together();
        taker_of[kNoProgram] = together.empty() ? CpuTakers::kNobody : static_cast<uint32_t>(result.takers.size());
        if (!together.empty())
            result.takers.push_back(std::move(together));
        for (size_t i = 0; i < pieces_.size(); ++i)
            result.intervals.push_back({pieces_[i].begin_ns, pieces_[i].end_ns, taker_of.at(whose_[i])});
        return result;
    }

  private:
    using Shares = std::map<size_t, double>; // seconds by process

    std::vector<uint32_t> match() const {
        std::vector<uint64_t> looks_ns;
        for (const UsedInterval& one : used_) {
            looks_ns.push_back(one.begin_ns);
            looks_ns.push_back(one.end_ns);
        }
        std::ranges::sort(looks_ns);
        looks_ns.erase(std::unique(looks_ns.begin(), looks_ns.end()), looks_ns.end());
        std::vector<std::vector<double>> used_s(has_own_.size(), std::vector<double>(looks_ns.size() - 1, 0));
        for (size_t i = 0; i < used_.size(); ++i) {
            const UsedInterval& one = used_[i];
            std::vector<double>& row = used_s[program_of_[i]];
            auto look = static_cast<size_t>(std::ranges::lower_bound(looks_ns, one.begin_ns) - looks_ns.begin());
            for (; looks_ns[look] < one.end_ns; ++look)
                row[look] += one.cpu_s * static_cast<double>(looks_ns[look + 1] - looks_ns[look]) /
                             static_cast<double>(one.end_ns - one.begin_ns);
        }
        return match_programs(pieces_, looks_ns, used_s);
    }

    // Each process accounts for as much as it used of what was lost meanwhile to `program`.
    Shares shares(uint32_t program) const {
        std::vector<LostPiece> pieces;
        for (size_t i = 0; i < pieces_.size(); ++i)
            if (whose_[i] == program)
                pieces.push_back(pieces_[i]);
        const LostTime lost(pieces);
        Shares result;
        for (size_t i = 0; i < used_.size(); ++i) {
            const UsedInterval& one = used_[i];
            const uint32_t its = program_of_[i];
            if (program == kNoProgram ? bool{has_own_[its]} : its != program)
                continue;
            if (const double here_s = lost.between_s(one.begin_ns, one.end_ns); here_s > 0)
                result[one.other] += std::min(here_s, one.cpu_s);
        }
        return result;
    }

    static std::vector<size_t> by_time(const Shares& shares) {
        std::vector<size_t> order;
        for (const auto& [other, time_s] : shares)
            order.push_back(other);
        std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t other) { return shares.at(other); });
        return order;
    }

    static double accounted(const Shares& shares) {
        double sum_s = 0;
        for (const auto& [other, time_s] : shares)
            sum_s += time_s;
        return sum_s;
    }

    double not_own_s() const { // what was lost to no program alone
        double lost_s = 0;
        for (size_t i = 0; i < pieces_.size(); ++i)
            if (whose_[i] == kNoProgram)
                lost_s += static_cast<double>(pieces_[i].end_ns - pieces_[i].begin_ns) * 1e-9;
        return lost_s;
    }

    std::vector<size_t> those_together() const {
        const Shares shares = this->shares(kNoProgram);
        std::vector<size_t> order = by_time(shares);
        if (order.empty() || accounted(shares) < kLeastAccounted * not_own_s())
            return {};
        const double most_s = shares.at(order.front());
        std::erase_if(order, [&](size_t other) { return shares.at(other) < kLeastOfMost * most_s; });
        return order;
    }

    const std::vector<LostPiece>& pieces_;
    const std::vector<UsedInterval>& used_;
    std::vector<uint32_t> program_of_; // of each of used_: programs are numbered
    std::vector<uint32_t> whose_;      // of each piece, the number of a program
    std::vector<bool> has_own_;        // by program: pieces that are its alone
};

} // namespace

uint32_t CpuTakers::taker_at(uint64_t time_ns) const {
    const auto behind = std::ranges::upper_bound(intervals, time_ns, {}, &Interval::begin_ns);
    if (behind == intervals.begin() || std::prev(behind)->end_ns <= time_ns)
        return kNobody;
    return std::prev(behind)->taker;
}

std::map<int, CpuTakers> takers_by_cpu(const model::Host& host, std::vector<LostCpu> lost) {
    const std::map<int, std::vector<LostPiece>> pieces = pieces_by_cpu(std::move(lost));
    std::map<int, LostTime> lost_time;
    for (const auto& [cpu, of_cpu] : pieces)
        lost_time.emplace(cpu, of_cpu);
    std::map<int, CpuTakers> result;
    for (const auto& [cpu, of_cpu] : pieces)
        result.emplace(cpu, TakersOfCpu(host, of_cpu, used_of_cpu(host, cpu, lost_time)).result());
    return result;
}

} // namespace plumb::noise
