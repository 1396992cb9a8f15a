#include "replay/noise/lost_time.h"

#include "replay/noise/joints.h"
#include "replay/noise/step_reader.h"
#include "replay/noise/takers.h"
#include "support/error.h"

#include <algorithm>
#include <array>

namespace plumb::replay {

namespace {

// Groups of joints of which only the last one makes the ranks wait.
constexpr std::array<uint32_t, 4> kGroupings = {2, 4, 8, 16};

size_t groups_of(size_t joints, size_t grouping) { return (joints + kGroupings[grouping] - 1) / kGroupings[grouping]; }

size_t first_group(size_t joints, size_t grouping) {
    size_t first = 0;
    for (size_t before = 0; before < grouping; ++before)
        first += groups_of(joints, before);
    return first;
}

// When the last rank would have arrived at each joint: without all that is known to be noise, and without each taker alone.
struct Arrivals {
    static constexpr size_t kColumns = Takers::kMost + 1;
    explicit Arrivals(size_t joints) : latest(joints * kColumns, INT64_MIN), group(first_group(joints, kGroupings.size())) {}

    std::vector<Nanoseconds> latest; // by joint, then column; column 0: without all
    // The longest that a rank was on its way in each group of joints, waiting at joints left out: as it was, and without noise.
    struct Longest {
        Nanoseconds recorded = 0, quiet = 0;
    };
    std::vector<Longest> group; // by grouping, then group

    void merge(Arrivals&& other) {
        for (size_t i = 0; i < latest.size(); ++i)
            latest[i] = std::max(latest[i], other.latest[i]);
        for (size_t i = 0; i < group.size(); ++i)
            group[i] = {std::max(group[i].recorded, other.group[i].recorded), std::max(group[i].quiet, other.group[i].quiet)};
    }
    template <class Carrier> void carry(Carrier& carrier) { carrier(latest, group); }
};

struct ArrivalsOfJob : Arrivals {
    explicit ArrivalsOfJob(size_t joints) : Arrivals(joints), size_(latest.size()), groups_(group.size()) {}
    void merge(ArrivalsOfJob&& other) { Arrivals::merge(std::move(other)); }
    bool fits(const Job&) const { return latest.size() == size_ && group.size() == groups_; }

  private:
    size_t size_, groups_;
};

// What one rank adds to them.
class RankArrivals {
  public:
    RankArrivals(const Takers& takers, const Joints& joints, Arrivals& arrivals)
        : takers_(takers), joints_(joints), arrivals_(arrivals) {}

    void operator()(const RankStep& step) {
        Nanoseconds* const latest = &arrivals_.latest[step.place * Arrivals::kColumns];
        for (size_t taker = 0; taker < takers_.takers().size(); ++taker)
            latest[taker + 1] = std::max(latest[taker + 1], std::max(step.begin, step.arrived - step.without(taker)));
        const Nanoseconds quiet = std::max(step.begin, step.arrived - step.without_noise(takers_));
        latest[0] = std::max(latest[0], quiet);
        if (joints_.all_are_here)
            add_to_groups(step.place, step.arrived - step.begin, quiet - step.begin);
    }

  private:
    void add_to_groups(uint32_t place, Nanoseconds recorded, Nanoseconds quiet) {
        const size_t joints = joints_.arrival.size();
        for (size_t grouping = 0; grouping < kGroupings.size(); ++grouping) {
            Arrivals::Longest& own = own_[grouping];
            accumulate(own.recorded, recorded);
            accumulate(own.quiet, quiet);
            if ((place + 1) % kGroupings[grouping] != 0 && place + 1 != joints)
                continue;
            Arrivals::Longest& longest = arrivals_.group[first_group(joints, grouping) + place / kGroupings[grouping]];
            longest = {std::max(longest.recorded, own.recorded), std::max(longest.quiet, own.quiet)};
            own = {};
        }
    }

    const Takers& takers_;
    const Joints& joints_;
    Arrivals& arrivals_;
    std::array<Arrivals::Longest, kGroupings.size()> own_{}; // of the groups under way
};

double lost_s(const Joints& joints, const Arrivals& arrivals, size_t column, uint64_t stride) {
    Nanoseconds sum = 0;
    for (size_t place = 0; place < joints.arrival.size(); ++place)
        if (const Nanoseconds latest = arrivals.latest[place * Arrivals::kColumns + column]; latest != INT64_MIN)
            accumulate(sum, std::max(Nanoseconds{0}, joints.arrival[place] - latest));
    return seconds(sum) * static_cast<double>(stride);
}

std::vector<model::MpiNoise::Grouping> groupings_of(const Joints& joints, const Arrivals& arrivals) {
    std::vector<model::MpiNoise::Grouping> result;
    const size_t count = joints.arrival.size();
    for (size_t grouping = 0; joints.all_are_here && grouping < kGroupings.size(); ++grouping) {
        if (count < 2 * kGroupings[grouping])
            break;
        Nanoseconds sum = 0;
        for (size_t group = 0; group < groups_of(count, grouping); ++group) {
            const Arrivals::Longest& longest = arrivals.group[first_group(count, grouping) + group];
            accumulate(sum, longest.recorded - longest.quiet);
        }
        result.push_back({kGroupings[grouping], seconds(sum)});
    }
    return result;
}

} // namespace

std::optional<model::MpiNoise> time_lost_to_noise(const model::Run& run, const Job& job, const EpochTable& epochs,
                                                  const MatchedMessages& messages, const OpenTrace& open, const RankWork& work) {
    Takers takers(run, job);
    const Joints joints(job, epochs);
    model::MpiNoise noise;
    noise.recorded_share = takers.recorded_share();
    if (joints.arrival.empty() || takers.takers().empty())
        return noise;
    const auto none = [&] { return ArrivalsOfJob(joints.arrival.size()); };
    const auto arrivals = work.for_leader(none, [&](uint32_t row, ArrivalsOfJob& share) {
        try {
            RankEvents(run, job.ranks[row])
                .visit(open, StepReader(takers, epochs, messages, joints, row, RankArrivals(takers, joints, share)));
        } catch (const Error&) {} // the other readings note it
    });
    if (!arrivals)
        return {};
    noise.replayed = true;
    noise.lost_s = lost_s(joints, *arrivals, 0, epochs.stride());
    noise.groupings = groupings_of(joints, *arrivals);
    noise.takers = std::move(takers).release();
    for (size_t taker = 0; taker < noise.takers.size(); ++taker)
        noise.takers[taker].lost_s = lost_s(joints, *arrivals, taker + 1, epochs.stride());
    std::ranges::stable_sort(noise.takers, std::ranges::greater(), &model::NoiseTaker::lost_s);
    return noise;
}

} // namespace plumb::replay
