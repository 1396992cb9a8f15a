#include "replay/noise/step_reader.h"

#include <algorithm>
#include <numeric>

namespace plumb::replay {

Nanoseconds RankStep::without_noise(const Takers& takers) const {
    Nanoseconds all = 0;
    for (size_t taker = 0; taker < takers.takers().size(); ++taker)
        all += takers.takers()[taker].is_noise() ? without(taker) : 0;
    return all;
}

Nanoseconds RankStep::work(const Takers& takers) const {
    Nanoseconds rest = arrived - begin - waited;
    for (size_t taker = 0; taker < takers.takers().size(); ++taker)
        rest -= takers.takers()[taker].is_noise() ? std::max(Nanoseconds{0}, taken_at_work[taker]) : 0;
    return std::max(Nanoseconds{0}, rest);
}

void StepReader::operator()(const Collective& event) {
    const Epoch* epoch = epochs_.find(event.membership->comm, event.sequence, hint_);
    if (!epoch || !epoch->complete)
        return;
    const uint32_t place = joints_.place_of[static_cast<size_t>(epoch - epochs_.epochs().data())];
    if (place == Joints::kNoPlace) {
        remember_wait(*epoch, event);
        return;
    }
    RankStep step{.place = place, .begin = event.begin - event.gap, .arrived = event.begin, .left = event.end};
    if (joints_.all_are_here && place > 0)
        step.begin = joints_.arrival[place - 1];
    step.begin = std::min(step.begin, step.arrived);
    takers_.add_taken(row_, step.begin, step.arrived, step.removed);
    step.taken_at_work = step.removed;
    for (Nanoseconds end = event.begin; const PeerWait* wait = last_wait(messages_, row_, step.begin, end); end = wait->begin)
        add_wait({std::max(step.begin, wait->begin), wait->end}, causes_of(messages_, *wait).parts, step);
    for (const Waited& wait : in_collectives_)
        if (wait.begin >= step.begin && wait.end <= step.arrived)
            add_wait(wait, {{wait.awaited, wait.end - wait.begin}}, step);
    in_collectives_.clear();
    sink_(step);
}

// In a collective of some of the ranks.
void StepReader::remember_wait(const Epoch& epoch, const Collective& event) {
    const uint32_t awaited = epoch.awaited().row;
    const Nanoseconds until = std::min(event.end, epoch.last.begin);
    if ((epoch.kind & trace::kMpiSynchronising) && awaited != row_ && awaited != UINT32_MAX && until > event.wait &&
        in_collectives_.size() < kMostWaits)
        in_collectives_.push_back({event.wait, until, awaited});
}

// It would have been as much shorter as those at work meanwhile had no CPU; its own preemptions in it cost nothing.
void StepReader::add_wait(const Waited& wait, const std::vector<Causes::Part>& causes, RankStep& step) const {
    Takers::Sums own{};
    takers_.add_taken(row_, wait.begin, wait.end, own);
    for (size_t taker = 0; taker < own.size(); ++taker) {
        step.removed[taker] -= own[taker];
        step.taken_at_work[taker] -= own[taker];
    }
    step.waited += wait.end - wait.begin;
    for (const Causes::Part& cause : causes) {
        if (cause.row == row_ || cause.row == UINT32_MAX)
            continue;
        Takers::Sums theirs{};
        takers_.add_taken(cause.row, step.begin, wait.end, theirs);
        const Nanoseconds all = std::accumulate(theirs.begin(), theirs.end(), Nanoseconds{0});
        const Nanoseconds most = std::min(cause.length, wait.end - wait.begin);
        const double part = all > most ? static_cast<double>(most) / static_cast<double>(all) : 1;
        for (size_t taker = 0; taker < theirs.size(); ++taker)
            step.removed[taker] += static_cast<Nanoseconds>(part * static_cast<double>(theirs[taker]));
    }
}

} // namespace plumb::replay
