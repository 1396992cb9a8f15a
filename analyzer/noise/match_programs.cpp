#include "noise/match_programs.h"

#include "noise/bursts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace plumb::noise {

namespace {

constexpr double kClockTick_s = 0.01, kTicksLate = 2; // what is counted in ticks may be counted two ticks later
constexpr double kMostBeyond = 0.15;  // of the CPU time that the program used: lost beyond that
constexpr double kMostMismatch = 0.5; // of the CPU time that the program used; a thread may have been blocked for part of it
constexpr double kClearlyWorse = 0.2; // more mismatch: of another program, or of other lengths
constexpr double kAsGood = 0.1;       // no more mismatch than that: the fewest losses count
constexpr double kLengthValley = 0.5, kStandardDeviations = 2; // of the losses in the highest class of lengths
constexpr double kLengthStep = 1.2;   // from one class of lengths to the next
constexpr double kMostOthers = 0.5;   // of a CPU
constexpr double kMostOfLook = 0.25;  // a longer burst is the work of several programs, and its slices are the scheduler's
constexpr size_t kFewestLooks = 4, kFewestLosses = 3;
constexpr size_t kMostLookIntervals = 64, kMostPrograms = 12, kMostLengths = 64;

struct MatchedLoss {
    std::vector<size_t> pieces;
    double length_s = 0;
    std::vector<std::pair<size_t, double>> looks; // in which it lies, and for how long
};

struct Lengths { // classes of lengths, the last one included
    size_t first = 0, last = 0, losses = 0;
    double mismatch = 0;
};

double length_s(const LostPiece& piece) { return static_cast<double>(piece.end_ns - piece.begin_ns) * 1e-9; }

// Consecutive pieces, as slices of one event.
std::vector<MatchedLoss> bursts_of_pieces(const std::vector<LostPiece>& pieces) {
    std::vector<MatchedLoss> bursts;
    SliceFollower follower;
    uint64_t end_ns = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
        const double gap_s = static_cast<double>(pieces[i].begin_ns - std::min(end_ns, pieces[i].begin_ns)) * 1e-9;
        const SliceFollower::Place place = follower.next(gap_s, length_s(pieces[i]));
        if (place == SliceFollower::Place::begins)
            bursts.emplace_back();
        if (place != SliceFollower::Place::goes_on_beside)
            end_ns = pieces[i].end_ns;
        bursts.back().pieces.push_back(i);
        bursts.back().length_s += length_s(pieces[i]);
    }
    return bursts;
}

class ProgramMatch {
  public:
    ProgramMatch(const std::vector<LostPiece>& pieces, std::vector<uint64_t> looks_ns, std::vector<std::vector<double>> used_s)
        : pieces_(pieces), looks_ns_(std::move(looks_ns)), used_s_(std::move(used_s)), taken_(pieces.size(), kNoProgram) {
        merge_looks();
        for (uint32_t program = 0; program < used_s_.size(); ++program)
            open_.push_back(program);
        std::ranges::stable_sort(open_, std::ranges::greater(), [&](uint32_t program) { return sum_of(used_s_[program]); });
        if (open_.size() > kMostPrograms)
            open_.resize(kMostPrograms);
    }

    std::vector<uint32_t> match() && {
        if (pieces_.empty() || looks_ns_.size() <= kFewestLooks)
            return std::move(taken_);
        const auto looked_ns = static_cast<double>(looks_ns_.back() - looks_ns_.front());
        const double look_ns = looked_ns / static_cast<double>(looks_ns_.size() - 1);
        std::vector<MatchedLoss> bursts = bursts_of_pieces(pieces_);
        std::erase_if(bursts, [&](const MatchedLoss& burst) {
            const uint64_t end_ns = pieces_[burst.pieces.back()].end_ns, begin_ns = pieces_[burst.pieces.front()].begin_ns;
            return static_cast<double>(end_ns - begin_ns) > kMostOfLook * look_ns;
        });
        MatchedLoss all;
        for (size_t i = 0; i < pieces_.size(); ++i)
            all.pieces.push_back(i);
        place(all);
        all_lost_s_.assign(looks_ns_.size() - 1, 0);
        for (const auto& [look, part_s] : all.looks)
            all_lost_s_[look] += part_s;
        deal(std::move(bursts));
        return std::move(taken_);
    }

  private:
    static double sum_of(const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values)
            sum += value;
        return sum;
    }

    void merge_looks() {
        while (looks_ns_.size() > kMostLookIntervals + 1) {
            const size_t intervals = looks_ns_.size() - 1;
            std::vector<uint64_t> looks_ns;
            for (size_t i = 0; i < intervals; i += 2)
                looks_ns.push_back(looks_ns_[i]);
            looks_ns.push_back(looks_ns_.back());
            for (std::vector<double>& row : used_s_) {
                std::vector<double> merged((intervals + 1) / 2, 0);
                for (size_t i = 0; i < intervals; ++i)
                    merged[i / 2] += row[i];
                row = std::move(merged);
            }
            looks_ns_ = std::move(looks_ns);
        }
    }

    void place(MatchedLoss& loss) const {
        for (const size_t piece : loss.pieces) {
            const auto [begin_ns, end_ns] = std::pair(pieces_[piece].begin_ns, pieces_[piece].end_ns);
            const auto behind = std::ranges::upper_bound(looks_ns_, begin_ns);
            size_t look = behind == looks_ns_.begin() ? 0 : static_cast<size_t>(behind - looks_ns_.begin()) - 1;
            for (; look + 1 < looks_ns_.size() && looks_ns_[look] < end_ns; ++look) {
                const uint64_t from_ns = std::max(begin_ns, looks_ns_[look]), to_ns = std::min(end_ns, looks_ns_[look + 1]);
                if (to_ns <= from_ns)
                    continue;
                const double part_s = static_cast<double>(to_ns - from_ns) * 1e-9;
                if (!loss.looks.empty() && loss.looks.back().first == look)
                    loss.looks.back().second += part_s;
                else
                    loss.looks.push_back({look, part_s});
            }
        }
    }

    // Program by program, the best match first.
    void deal(std::vector<MatchedLoss> losses) {
        for (MatchedLoss& loss : losses)
            place(loss);
        std::erase_if(losses, [](const MatchedLoss& loss) { return loss.looks.empty() || loss.length_s <= 0; });
        while (!losses.empty() && !open_.empty()) {
            sort_by_length(losses);
            std::optional<Lengths> best;
            uint32_t whose = 0;
            for (const uint32_t program : open_)
                if (const auto found = clear_lengths(program); found && (!best || found->mismatch < best->mismatch)) {
                    best = found;
                    whose = program;
                }
            if (!best)
                return;
            std::erase(open_, whose);
            give(losses, *best, whose);
        }
    }

    size_t class_of(double loss_s) const {
        const double length = std::log(std::max(1.0, loss_s / least_s_)) / std::log(kLengthStep);
        return std::min(kMostLengths - 1, static_cast<size_t>(length));
    }

    void sort_by_length(const std::vector<MatchedLoss>& losses) {
        least_s_ = losses[0].length_s;
        double most_s = least_s_;
        for (const MatchedLoss& loss : losses) {
            least_s_ = std::min(least_s_, loss.length_s);
            most_s = std::max(most_s, loss.length_s);
        }
        least_s_ = std::max(least_s_, most_s / std::pow(kLengthStep, kMostLengths - 1)); // shorter ones are in the first class
        lost_s_.assign(kMostLengths, std::vector<double>(looks_ns_.size() - 1, 0));
        counts_.assign(kMostLengths, 0);
        for (const MatchedLoss& loss : losses) {
            const size_t length = class_of(loss.length_s);
            ++counts_[length];
            for (const auto& [look, part_s] : loss.looks)
                lost_s_[length][look] += part_s;
        }
    }

    // By how much what was lost look by look differs from what the program used: of what it used. Infinite where more was lost
    // than it used: others had a part in that.
    double mismatch(std::span<const double> lost_s, uint32_t program) const {
        const std::vector<double>& used_s = used_s_[program];
        double lost = 0, used = 0, beyond = 0, apart = 0, squares = 0;
        for (size_t look = 0; look < lost_s.size(); ++look) {
            const double off_s = std::max(0.0, std::abs(lost_s[look] - used_s[look]) - kClockTick_s);
            apart += off_s * off_s;
            beyond += lost_s[look] > used_s[look] ? off_s : 0;
            squares += used_s[look] * used_s[look];
            lost += lost_s[look];
            used += used_s[look];
        }
        if (used <= 0 || beyond > kMostBeyond * used || lost > (1 + kMostBeyond) * used + kTicksLate * kClockTick_s)
            return INFINITY;
        return std::max(std::abs(lost / used - 1), std::sqrt(apart / squares));
    }

    // A pile of lengths is not cut in two: next to it there are fewer, beyond what is chance.
    bool has_valleys(size_t first, size_t last, size_t highest) const {
        const auto is_low = [&](size_t count) {
            const auto most = static_cast<double>(count) + kStandardDeviations * std::sqrt(static_cast<double>(count));
            return most <= kLengthValley * static_cast<double>(highest);
        };
        return (first == 0 || is_low(counts_[first - 1])) && (last + 1 == kMostLengths || is_low(counts_[last + 1]));
    }

    std::vector<Lengths> fitting_lengths(uint32_t program) const {
        std::vector<Lengths> fitting;
        for (size_t first = 0; first < kMostLengths; ++first) {
            std::vector<double> sum_s(looks_ns_.size() - 1, 0);
            size_t count = 0, highest = 0;
            for (size_t last = first; last < kMostLengths && counts_[first] > 0; ++last) {
                if (counts_[last] == 0)
                    continue;
                count += counts_[last];
                highest = std::max(highest, counts_[last]);
                for (size_t look = 0; look < sum_s.size(); ++look)
                    sum_s[look] += lost_s_[last][look];
                if (count < kFewestLosses || !has_valleys(first, last, highest))
                    continue;
                if (const double off = mismatch(sum_s, program); off <= kMostMismatch)
                    fitting.push_back({first, last, count, off});
            }
        }
        return fitting;
    }

    // Lengths of losses that are this program's and no other's, if it has no others that it could have as well.
    std::optional<Lengths> clear_lengths(uint32_t program) const {
        const std::vector<Lengths> fitting = fitting_lengths(program);
        const auto closest = std::ranges::min_element(fitting, {}, &Lengths::mismatch);
        if (closest == fitting.end())
            return {};
        Lengths best = *closest;
        for (const Lengths& one : fitting)
            if (one.mismatch <= closest->mismatch + kAsGood && one.losses < best.losses)
                best = one;
        const bool is_unique = std::ranges::none_of(fitting, [&](const Lengths& other) {
            return (other.last < best.first || other.first > best.last) && other.mismatch < best.mismatch + kClearlyWorse;
        });
        if (!is_unique || fits_another(best, program) || is_crowded(best, program))
            return {};
        return best;
    }

    std::vector<double> lost_by_look(const Lengths& lengths) const {
        std::vector<double> sum_s(looks_ns_.size() - 1, 0);
        for (size_t length = lengths.first; length <= lengths.last; ++length)
            for (size_t look = 0; look < sum_s.size(); ++look)
                sum_s[look] += lost_s_[length][look];
        return sum_s;
    }

    // While it ran, others had the CPU for most of the time: most of what looks like its events is the work of several.
    bool is_crowded(const Lengths& lengths, uint32_t program) const {
        const std::vector<double> lost_s = lost_by_look(lengths);
        double others_s = 0, looked_s = 0;
        for (size_t look = 0; look < lost_s.size(); ++look)
            if (used_s_[program][look] > 0) {
                others_s += all_lost_s_[look] - lost_s[look];
                looked_s += static_cast<double>(looks_ns_[look + 1] - looks_ns_[look]) * 1e-9;
            }
        return others_s > kMostOthers * looked_s;
    }

    bool fits_another(const Lengths& lengths, uint32_t program) const {
        const std::vector<double> sum_s = lost_by_look(lengths);
        return std::ranges::any_of(open_, [&](uint32_t other) {
            return other != program && mismatch(sum_s, other) < lengths.mismatch + kClearlyWorse;
        });
    }

    // Never more than it used so far. Others of these lengths may be anybody's, and stay so.
    void give(std::vector<MatchedLoss>& losses, const Lengths& lengths, uint32_t program) {
        const std::vector<double>& used_s = used_s_[program];
        double room_s = kTicksLate * kClockTick_s;
        size_t until = 0;
        for (MatchedLoss& loss : losses) {
            const size_t length = class_of(loss.length_s);
            if (length < lengths.first || length > lengths.last)
                continue;
            for (; until <= loss.looks.back().first; ++until)
                room_s += used_s[until];
            const bool ran = std::ranges::any_of(loss.looks, [&](const auto& part) { return used_s[part.first] > 0; });
            if (!ran || room_s < loss.length_s)
                continue;
            room_s -= loss.length_s;
            for (const size_t piece : loss.pieces)
                taken_[piece] = program;
        }
        std::erase_if(losses, [&](const MatchedLoss& loss) {
            return class_of(loss.length_s) >= lengths.first && class_of(loss.length_s) <= lengths.last;
        });
    }

    const std::vector<LostPiece>& pieces_;
    std::vector<uint64_t> looks_ns_;
    std::vector<std::vector<double>> used_s_;
    std::vector<uint32_t> taken_;
    std::vector<uint32_t> open_; // programs that have no losses yet
    double least_s_ = 0;
    std::vector<std::vector<double>> lost_s_; // by class of lengths, then look
    std::vector<size_t> counts_;
    std::vector<double> all_lost_s_; // by look
};

} // namespace

std::vector<uint32_t> match_programs(const std::vector<LostPiece>& pieces, const std::vector<uint64_t>& looks_ns,
                                     const std::vector<std::vector<double>>& used_s) {
    return ProgramMatch(pieces, looks_ns, used_s).match();
}

} // namespace plumb::noise
