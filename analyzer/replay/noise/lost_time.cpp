#include "replay/noise/lost_time.h"

#include "replay/messages/chains.h"
#include "replay/noise/takers.h"
#include "support/error.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace plumb::replay {

namespace {

constexpr uint32_t kNoPlace = UINT32_MAX;

// The collectives that no rank of the job leaves before all have come, by time.
struct Joints {
    std::vector<uint32_t> place_of;    // by epoch; kNoPlace: it is none
    std::vector<Nanoseconds> arrival;  // of the last rank, by place
    bool all_are_here = true;          // none was thinned out

    Joints(const Job& job, const EpochTable& table) : place_of(table.epochs().size(), kNoPlace), all_are_here(table.stride() == 1) {
        std::vector<uint32_t> order;
        for (uint32_t at = 0; at < table.epochs().size(); ++at) {
            const Epoch& epoch = table.epochs()[at];
            if (epoch.complete && (epoch.kind & trace::kMpiSynchronising) && !epoch.is_neighbour() &&
                epoch.arrivals >= static_cast<uint32_t>(std::max(2, job.size)))
                order.push_back(at);
        }
        std::ranges::stable_sort(order, {}, [&](uint32_t at) { return table.epochs()[at].last.begin; });
        for (const uint32_t at : order) {
            const Epoch& epoch = table.epochs()[at];
            place_of[at] = static_cast<uint32_t>(arrival.size());
            arrival.push_back(epoch.last.begin);
        }
    }
};

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

class NoiseReader {
  public:
    NoiseReader(const Takers& takers, const EpochTable& epochs, const MatchedMessages& messages, const Joints& joints, uint32_t row,
                Arrivals& arrivals)
        : takers_(takers), epochs_(epochs), messages_(messages), joints_(joints), row_(row), arrivals_(arrivals) {}

    void operator()(const Collective& event) {
        const Epoch* epoch = epochs_.find(event.membership->comm, event.sequence, hint_);
        if (!epoch || !epoch->complete)
            return;
        const uint32_t place = joints_.place_of[static_cast<size_t>(epoch - epochs_.epochs().data())];
        if (place == kNoPlace) {
            remember_wait(*epoch, event);
            return;
        }
        const Nanoseconds left = event.begin - event.gap;
        const Nanoseconds begin = std::min(joints_.all_are_here && place > 0 ? joints_.arrival[place - 1] : left, event.begin);
        Takers::Sums removed{};
        takers_.add_taken(row_, begin, event.begin, removed);
        for (Nanoseconds end = event.begin; const PeerWait* wait = last_wait(messages_, row_, begin, end); end = wait->begin)
            add_wait(begin, {std::max(begin, wait->begin), wait->end}, causes_of(messages_, *wait).parts, removed);
        for (const Waited& wait : in_collectives_)
            if (wait.begin >= begin && wait.end <= event.begin)
                add_wait(begin, wait, {{wait.awaited, wait.end - wait.begin}}, removed);
        in_collectives_.clear();
        keep(place, begin, event.begin, removed);
    }

  private:
    struct Waited {
        Nanoseconds begin = 0, end = 0;
        uint32_t awaited = UINT32_MAX;
    };

    // In a collective of some of the ranks.
    void remember_wait(const Epoch& epoch, const Collective& event) {
        const uint32_t awaited = epoch.awaited().row;
        const Nanoseconds until = std::min(event.end, epoch.last.begin);
        if ((epoch.kind & trace::kMpiSynchronising) && awaited != row_ && awaited != UINT32_MAX && until > event.wait &&
            in_collectives_.size() < kMostWaits)
            in_collectives_.push_back({event.wait, until, awaited});
    }

    // It would have been as much shorter as those at work meanwhile had no CPU; its own preemptions in it cost nothing.
    void add_wait(Nanoseconds begin, const Waited& wait, const std::vector<Causes::Part>& causes, Takers::Sums& removed) const {
        Takers::Sums own{};
        takers_.add_taken(row_, wait.begin, wait.end, own);
        for (size_t taker = 0; taker < removed.size(); ++taker)
            removed[taker] -= own[taker];
        for (const Causes::Part& cause : causes) {
            if (cause.row == row_ || cause.row == UINT32_MAX)
                continue;
            Takers::Sums theirs{};
            takers_.add_taken(cause.row, begin, wait.end, theirs);
            const Nanoseconds all = std::accumulate(theirs.begin(), theirs.end(), Nanoseconds{0});
            const Nanoseconds most = std::min(cause.length, wait.end - wait.begin);
            const double part = all > most ? static_cast<double>(most) / static_cast<double>(all) : 1;
            for (size_t taker = 0; taker < removed.size(); ++taker)
                removed[taker] += static_cast<Nanoseconds>(part * static_cast<double>(theirs[taker]));
        }
    }

    void keep(uint32_t place, Nanoseconds begin, Nanoseconds arrived, const Takers::Sums& removed) {
        Nanoseconds* const latest = &arrivals_.latest[place * Arrivals::kColumns];
        Nanoseconds all = 0;
        for (size_t taker = 0; taker < takers_.takers().size(); ++taker) {
            const Nanoseconds sooner = std::max(Nanoseconds{0}, removed[taker]);
            all += takers_.takers()[taker].is_noise() ? sooner : 0;
            latest[taker + 1] = std::max(latest[taker + 1], std::max(begin, arrived - sooner));
        }
        latest[0] = std::max(latest[0], std::max(begin, arrived - all));
        if (joints_.all_are_here)
            add_to_groups(place, arrived - begin, std::max(Nanoseconds{0}, arrived - begin - all));
    }

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

    static constexpr size_t kMostWaits = 1 << 12;
    const Takers& takers_;
    const EpochTable& epochs_;
    const MatchedMessages& messages_;
    const Joints& joints_;
    const uint32_t row_;
    Arrivals& arrivals_;
    std::vector<Waited> in_collectives_; // since the latest joint
    std::array<Arrivals::Longest, kGroupings.size()> own_{}; // of the groups under way
    size_t hint_ = 0;
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
            RankEvents(run, job.ranks[row]).visit(open, NoiseReader(takers, epochs, messages, joints, row, share));
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
