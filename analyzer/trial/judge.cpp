#include "trial/judge.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace plumb::trial {

namespace {

constexpr size_t kRunsOfFailure = 2;

std::string status_text(int status) {
    return status > 128 ? fmt::format("exit status {} (signal {})", status, status - 128)
                        : fmt::format("exit status {}", status);
}

} // namespace

void Judge::add_base(const TimedRun& run) {
    base_.push_back(run);
}

int Judge::usual_status() const {
    std::map<int, size_t> counts;
    for (const TimedRun& run : base_)
        counts[run.exit_status]++;
    if (counts.empty() || counts.contains(0))
        return 0;
    return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

std::vector<int> Judge::statuses() const {
    std::vector<int> all;
    for (const TimedRun& run : base_)
        if (std::ranges::find(all, run.exit_status) == all.end())
            all.push_back(run.exit_status);
    return all;
}

size_t Judge::unusual_runs() const {
    return static_cast<size_t>(
        std::ranges::count_if(base_, [usual = usual_status()](const TimedRun& run) { return run.exit_status != usual; }));
}

bool Judge::compares(size_t output) const {
    const TimedRun* first = nullptr;
    for (const TimedRun& run : base_) {
        if (run.exit_status != usual_status())
            continue;
        if (first && run.fingerprints[output] != first->fingerprints[output])
            return false;
        if (!first)
            first = &run;
    }
    return first != nullptr;
}

std::vector<std::string> Judge::changing() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < names_.size(); ++i)
        if (!base_.empty() && !compares(i))
            names.push_back(names_[i]);
    return names;
}

std::string Judge::difference_of(const TimedRun& run) const {
    const std::vector<int> known = statuses();
    if (std::ranges::find(known, run.exit_status) == known.end())
        return fmt::format("{} instead of {}", status_text(run.exit_status), usual_status());
    if (run.exit_status != usual_status())
        return "";
    const auto usual = std::ranges::find(base_, usual_status(), &TimedRun::exit_status);
    for (size_t i = 0; i < names_.size(); ++i)
        if (compares(i) && run.fingerprints[i] != usual->fingerprints[i])
            return run.fingerprints[i] == kMissing ? fmt::format("{} is missing", names_[i])
                                                   : fmt::format("another {}", names_[i]);
    return "";
}

Pairs Judge::pairs_of(const Rounds& base, const Rounds& cure) const {
    Pairs pairs;
    size_t failures = 0;
    for (size_t round = 0; round < std::min(base.size(), cure.size()); ++round) {
        if (!base[round] || !cure[round])
            continue;
        if (const std::string difference = difference_of(*cure[round]); !difference.empty()) {
            if (++failures >= kRunsOfFailure)
                pairs.failure = difference;
            pairs.not_counted++;
        } else if (base[round]->exit_status != usual_status() || cure[round]->exit_status != usual_status()) {
            pairs.not_counted++;
        } else {
            pairs.base.push_back(*base[round]);
            pairs.cure.push_back(*cure[round]);
        }
    }
    return pairs;
}

std::vector<double> walls_of(const std::vector<TimedRun>& runs) {
    std::vector<double> walls;
    for (const TimedRun& run : runs)
        walls.push_back(run.wall_s);
    return walls;
}

} // namespace plumb::trial
