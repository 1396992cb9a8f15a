#include "noise/period_search.h"

#include "noise/log_histogram.h"
#include "noise/loss_sample.h"
#include "support/xorshift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace plumb::noise {

namespace {

using Level = LossStreams::Level;

constexpr size_t kMostSampled = 40'000, kMostWiderSampled = 250'000; // events looked at
constexpr double kMostPairs = 2e6;
constexpr int kLagBits = 9;
constexpr double kLeastLagEvidence = 15; // of a distance, before trains with it are looked for
constexpr size_t kMostCandidates = 10;
constexpr double kLeastOccupancy = 0.5;
constexpr double kMostJitter = 0.1; // of a period: what is less regular can hardly be distinguished from chance
constexpr double kLeastGrains = 2;  // shorter periods than this many grains cannot be seen
constexpr double kLeastScore = 20, kLeastOverControl = 1.5, kWorthWidening = 8;
constexpr double kFewSlots = 5, kLeastShareOfUnits = 0.3;
const std::vector<double> kLagWidths{0.001, 0.004, 0.02, 0.1};
constexpr std::array kOtherPeriods{0.7871, 0.8737, 1.1413, 1.2711}; // beside the true one, and no simple fractions of it
constexpr double kWider = 2.5, kClimbStep = 1.2;

struct Evaluation {
    double score = 0;
    size_t with_train = 0, with_events = 0; // CPUs or nodes; with at least two events
    double span_s = 0, steps = 0;
    std::vector<double> deviations_s; // of intervals, divided by the root of their periods

    double period_s() const { return span_s / steps; }
};

class Evaluator {
  public:
    explicit Evaluator(double measured_s) : measured_s_(measured_s) {}

    // `shuffled`: the events at random times instead.
    const Evaluation& operator()(const Sample& sample, LengthBand band, const TrainModel& model, bool shuffled = false) {
        result_ = {};
        Xorshift random(0x2545f4914f6cdd1du);
        for (size_t unit = 0, begin = 0; unit < sample.ends.size(); begin = sample.ends[unit++]) {
            begins_s_.clear();
            for (size_t event = begin; event < sample.ends[unit]; ++event)
                if (band.holds(sample.lengths_s[event]))
                    begins_s_.push_back(shuffled ? static_cast<double>(random.next() >> 11) * 0x1p-53 * measured_s_
                                                 : sample.begins_s[event]);
            if (begins_s_.size() < 2)
                continue;
            if (shuffled)
                std::ranges::sort(begins_s_);
            ++result_.with_events;
            add(search_.best(begins_s_, model, measured_s_), model);
        }
        return result_;
    }

  private:
    void add(const EventTrain& train, const TrainModel& model) {
        if (train.score <= 0 || train.occupancy() < kLeastOccupancy)
            return;
        ++result_.with_train;
        result_.score += train.score;
        for (size_t event = 1; event < train.events.size(); ++event) {
            if (train.steps[event] == 0)
                continue;
            const double interval_s = begins_s_[train.events[event]] - begins_s_[train.events[event - 1]],
                         steps = train.steps[event];
            result_.span_s += interval_s;
            result_.steps += steps;
            result_.deviations_s.push_back((interval_s - steps * model.period_s) / std::sqrt(steps));
        }
    }

    double measured_s_;
    TrainSearch search_;
    Evaluation result_;
    std::vector<double> begins_s_;
};

double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

// The model that fits the trains which `model` found.
TrainModel refined(const TrainModel& model, Evaluation evaluation) {
    if (evaluation.steps == 0)
        return model;
    TrainModel result = model;
    result.period_s = evaluation.period_s();
    const double middle_s = median_of(evaluation.deviations_s);
    for (double& deviation_s : evaluation.deviations_s)
        deviation_s = std::abs(deviation_s - middle_s);
    const double sigma_s = 1.4826 * median_of(evaluation.deviations_s); // of a normal distribution
    // Two begins, each known to a grain, are a distance known to a grain's variance / 6.
    result.deviation_s = std::sqrt(std::max(0.0, sigma_s * sigma_s - model.grain_s * model.grain_s / 6));
    if (result.deviation_s < model.grain_s / 3)
        result.deviation_s = 0;
    return result;
}

std::vector<HistogramPeak> frequent_distances(const Sample& sample, LengthBand band, double grain_s, double measured_s) {
    LogHistogram lags(grain_s, measured_s, kLagBits);
    const auto events = std::ranges::count_if(sample.lengths_s, [&](float length_s) { return band.holds(length_s); });
    const auto neighbours =
        static_cast<size_t>(std::max(16.0, kMostPairs / static_cast<double>(std::max<std::ptrdiff_t>(events, 1))));
    std::vector<double> begins_s;
    for (size_t unit = 0, begin = 0; unit < sample.ends.size(); begin = sample.ends[unit++]) {
        begins_s.clear();
        for (size_t event = begin; event < sample.ends[unit]; ++event)
            if (band.holds(sample.lengths_s[event]))
                begins_s.push_back(sample.begins_s[event]);
        for (size_t first = 0; first < begins_s.size(); ++first)
            for (size_t second = first + 1; second < std::min(begins_s.size(), first + 1 + neighbours); ++second)
                lags.add(begins_s[second] - begins_s[first]);
    }
    auto peaks = lags.peaks(2.5 * grain_s, kLagWidths, kLeastLagEvidence, 10 * kMostCandidates);
    // The period is the shortest of its multiples; which of them stands out most is chance.
    if (peaks.size() > kMostCandidates) {
        const auto rest = peaks.begin() + kMostCandidates / 2;
        std::sort(rest, peaks.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
        peaks.resize(kMostCandidates);
    }
    return peaks;
}

class Search {
  public:
    explicit Search(const LossStreams& streams) : streams_(streams), evaluate_(streams.measured_s()) {}

    std::optional<FoundPeriod> best(LengthBand band) {
        const std::vector<size_t> nodes = choose_nodes(streams_, band, kMostSampled);
        std::optional<FoundPeriod> best;
        const bool has_both = streams_.streams(Level::cpu).size() > streams_.streams(Level::node).size();
        for (const Level level : {Level::cpu, Level::node}) {
            if (level == Level::node && !has_both)
                continue;
            const Sample sample = sample_of(streams_, nodes, level, band);
            auto found = best_period(sample, band, level);
            if (found && (!best || found->net() > best->net()))
                best = found;
        }
        if (!best || best->net() < kWorthWidening)
            return {};
        return widened(*best);
    }

  private:
    std::optional<FoundPeriod> best_period(const Sample& sample, LengthBand band, Level level, bool has_control = true) {
        if (sample.begins_s.size() < 3)
            return {};
        std::optional<FoundPeriod> best;
        for (const HistogramPeak& peak : frequent_distances(sample, band, streams_.grain_s(), streams_.measured_s())) {
            if (peak.mean < kLeastGrains * streams_.grain_s())
                continue;
            TrainModel model{
                .period_s = peak.mean,
                .deviation_s = std::min(kMostJitter * peak.mean, std::max(0.0, peak.width / 2 - 1.25 * streams_.grain_s()) / 3),
                .grain_s = streams_.grain_s()};
            for (int round = 0; round < 3; ++round) {
                const Evaluation& evaluation = evaluate_(sample, band, model);
                if (evaluation.score > (best ? best->score : 0))
                    best = FoundPeriod{band, level, model, evaluation.score, 0};
                if (evaluation.steps == 0)
                    break;
                model = refined(model, evaluation);
                if (model.deviation_s > kMostJitter * model.period_s)
                    break;
            }
        }
        if (best && has_control)
            best->control = control_of(sample, band, best->model);
        return best;
    }

    // The score that chance has: with the periods beside, and at random times.
    double control_of(const Sample& sample, LengthBand band, TrainModel model) {
        double control = evaluate_(sample, band, model, true).score;
        const double period_s = model.period_s;
        if (model.half_window_s(1) < 0.1 * period_s) {
            std::vector<double> others;
            for (const double factor : kOtherPeriods) {
                model.period_s = factor * period_s;
                others.push_back(evaluate_(sample, band, model).score);
            }
            control = std::max(control, median_of(others));
        }
        return control;
    }

    // The band in which the trains are likeliest: an event's lengths are seldom those of the band that it was met in.
    std::optional<FoundPeriod> widened(FoundPeriod found) {
        const LengthBand found_band = found.band;
        const LengthBand most = around_pile(found.band);
        std::vector<size_t> nodes = choose_nodes(streams_, most, kMostWiderSampled);
        if (const auto enough = choose_nodes(streams_, found.band, kMostSampled); enough.size() < nodes.size())
            nodes = enough;
        const Sample sample = sample_of(streams_, nodes, found.level, most);
        const auto rate = [&](LengthBand band) {
            FoundPeriod result = found;
            result.band = band;
            result.score = evaluate_(sample, band, found.model).score;
            return result;
        };
        // A narrow band may hold only some of a train's events, so that a multiple of its period fits as well.
        const FoundPeriod as_found = rate(found.band);
        found = as_found;
        for (const double wider : {1.0, 1.25, 1.6, kWider})
            for (const double divisor : {1.0, 2.0, 3.0, 4.0, 5.0}) {
                FoundPeriod other = as_found;
                other.band = {std::max(most.least_s, found_band.least_s / wider),
                              std::min(most.most_s, found_band.most_s * wider)};
                other.model.period_s /= divisor;
                if (other.model.period_s < kLeastGrains * streams_.grain_s() ||
                    other.model.deviation_s > kMostJitter * other.model.period_s)
                    continue;
                const Evaluation& evaluation = evaluate_(sample, other.band, other.model);
                other.score = evaluation.score;
                if (other.score > 1.05 * found.score) {
                    other.model = refined(other.model, evaluation);
                    found = other;
                }
            }
        // Or it holds the events that some third happening makes similar, and not the period itself.
        for (const double wider : {1.6, kWider}) {
            const LengthBand band{std::max(most.least_s, found_band.least_s / wider),
                                  std::min(most.most_s, found_band.most_s * wider)};
            if (const auto other = best_period(sample, band, found.level, false); other && other->score > 1.05 * found.score)
                found = *other;
        }
        bool is_better = true;
        for (int round = 0; round < 12 && is_better; ++round) {
            is_better = false;
            for (const auto& [low, high] :
                 {std::pair{1 / kClimbStep, 1.0}, {1.0, kClimbStep}, {kClimbStep, 1.0}, {1.0, 1 / kClimbStep}}) {
                const LengthBand band{std::max(most.least_s, found.band.least_s * low),
                                      std::min(most.most_s, found.band.most_s * high)};
                if (band.most_s < 1.02 * band.least_s)
                    continue;
                if (FoundPeriod other = rate(band); other.score > 1.01 * found.score) {
                    found = other;
                    is_better = true;
                }
            }
        }
        const Evaluation evaluation = evaluate_(sample, found.band, found.model);
        found.score = evaluation.score;
        found.control = control_of(sample, found.band, found.model);
        const bool has_few_slots = streams_.measured_s() < kFewSlots * found.model.period_s;
        if (found.score < kLeastOverControl * found.control + kLeastScore ||
            (has_few_slots &&
             static_cast<double>(evaluation.with_train) < kLeastShareOfUnits * static_cast<double>(evaluation.with_events)))
            return {};
        return found;
    }

    // The band with its surroundings, up to where losses pile up again: those are other events.
    LengthBand around_pile(LengthBand band) const {
        constexpr int kStepsOut = 10;
        constexpr double kOther = 3, kOtherEvents = 6; // times the least in between, and more
        const double step = std::pow(kWider, 1.0 / kStepsOut);
        std::array<std::array<double, kStepsOut>, 2> counts{};
        const double down = -1 / std::log(step);
        for (uint32_t loss = 0; loss < streams_.count(); ++loss) {
            const double left_s = streams_.left_s(loss);
            if (left_s < band.least_s && left_s * kWider > band.least_s)
                ++counts[0][std::min<size_t>(kStepsOut - 1, static_cast<size_t>(std::log(left_s / band.least_s) * down))];
            else if (left_s >= band.most_s && left_s < band.most_s * kWider)
                ++counts[1][std::min<size_t>(kStepsOut - 1, static_cast<size_t>(-std::log(left_s / band.most_s) * down))];
        }
        std::array<int, 2> steps{};
        for (const size_t side : {0, 1}) {
            double least = INFINITY;
            int valley = 0;
            while (steps[side] < kStepsOut) {
                const double count = counts[side][static_cast<size_t>(steps[side])];
                if (count > kOther * least + kOtherEvents || (count == 0 && least == 0)) {
                    steps[side] = valley;
                    break;
                }
                if (count < least) {
                    least = count;
                    valley = steps[side];
                }
                ++steps[side];
            }
        }
        return {band.least_s * std::pow(step, -steps[0]), band.most_s * std::pow(step, steps[1])};
    }

    const LossStreams& streams_;
    Evaluator evaluate_;
};

} // namespace

std::optional<FoundPeriod> search_period(const LossStreams& streams, LengthBand band) {
    return Search(streams).best(band);
}

bool is_own_train(const EventTrain& train, size_t others) {
    return train.occupancy() >= kLeastOccupancy && train.score > 3 + std::log(static_cast<double>(others));
}

} // namespace plumb::noise
