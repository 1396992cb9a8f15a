#include "noise/event_train.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plumb::noise {

namespace {

constexpr uint32_t kMostSteps = 4;   // after more missed events in a row, a train begins anew, at any moment
constexpr double kRestart = 3;       // what that costs of its score, beside the choice of the event
constexpr double kSeen = 0.9;        // of a train's events, as first guess
constexpr double kOwnShare = 0.8;    // of the events that a whole train would have: not counted among the random ones
constexpr double kLeastRandom = 0.2; // of all events
constexpr uint32_t kNone = UINT32_MAX;
constexpr double kNearer = 0.5; // what an event in the middle of the window is worth more than one at its border

uint32_t slots_in(double periods) {
    return static_cast<uint32_t>(std::min(periods, 1e8));
}

} // namespace

double TrainModel::half_window_s(double periods) const {
    return 1.25 * grain_s + 3 * deviation_s * std::sqrt(periods);
}

const EventTrain& TrainSearch::best(std::span<const double> begins_s, const TrainModel& model, double measured_s) {
    train_.score = 0;
    train_.events.clear();
    train_.steps.clear();
    train_.slots = 0;
    const size_t count = begins_s.size();
    if (count < 2)
        return train_;
    const auto events = static_cast<double>(count);
    const double random_hz =
        std::max({events - kOwnShare * measured_s / model.period_s, kLeastRandom * events, 1.0}) / measured_s;
    std::array<double, kMostSteps> window_s{}, gain{};
    std::array<size_t, kMostSteps> low{};
    for (uint32_t step = 0; step < kMostSteps; ++step) {
        window_s[step] = std::min(model.half_window_s(step + 1), 0.45 * model.period_s);
        gain[step] = std::log(kSeen / (2 * window_s[step] * random_hz)) + step * std::log(1 - kSeen);
    }
    if (gain[0] <= 0)
        return train_;
    score_.assign(count, 0);
    before_.assign(count, kNone);
    step_.assign(count, 0);
    const double restart = std::log(events) + kRestart;
    size_t last = 0, best_before = 0,
           next_before = 0; // of the events that are too far back for a step, the end of the best train
    for (size_t event = 1; event < count; ++event) {
        while (begins_s[next_before] < begins_s[event] - (kMostSteps + 0.5) * model.period_s) {
            if (score_[next_before] > score_[best_before])
                best_before = next_before;
            ++next_before;
        }
        if (next_before > 0 && score_[best_before] - restart > 0) {
            score_[event] = score_[best_before] - restart;
            before_[event] = static_cast<uint32_t>(best_before);
        }
        for (uint32_t step = 0; step < kMostSteps && gain[step] > -10; ++step) {
            const double due_s = begins_s[event] - (step + 1) * model.period_s, window = window_s[step];
            size_t& from = low[step];
            while (from < event && begins_s[from] < due_s - window)
                ++from;
            for (size_t earlier = from; earlier < event && begins_s[earlier] <= due_s + window; ++earlier) {
                const double score = score_[earlier] + gain[step] - kNearer * std::abs(begins_s[earlier] - due_s) / window;
                if (score > score_[event]) {
                    score_[event] = score;
                    before_[event] = static_cast<uint32_t>(earlier);
                    step_[event] = static_cast<uint8_t>(step + 1);
                }
            }
        }
        if (score_[event] > score_[last])
            last = event;
    }
    if (score_[last] <= 0)
        return train_;
    train_.score = score_[last] - std::log(events); // where it begins was chosen among all
    uint32_t slots = 1;
    for (auto event = static_cast<uint32_t>(last); event != kNone; event = before_[event]) {
        train_.events.push_back(event);
        train_.steps.push_back(step_[event]);
        if (step_[event] > 0)
            slots += step_[event];
        else if (before_[event] != kNone)
            slots += slots_in((begins_s[event] - begins_s[before_[event]]) / model.period_s);
    }
    std::ranges::reverse(train_.events);
    std::ranges::reverse(train_.steps);
    const double before_s = std::max(0.0, begins_s[train_.events.front()] - model.half_window_s(1));
    const double after_s = std::max(0.0, measured_s - begins_s[last] - model.half_window_s(1));
    train_.slots = slots + slots_in(before_s / model.period_s) + slots_in(after_s / model.period_s);
    return train_;
}

} // namespace plumb::noise
