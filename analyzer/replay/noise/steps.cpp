#include "replay/noise/steps.h"

#include "replay/noise/joints.h"
#include "replay/noise/step_reader.h"
#include "replay/noise/takers.h"
#include "support/error.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace plumb::replay {

namespace {

// Which steps are kept: blocks of consecutive ones, since what follows what is part of a job's rhythm.
struct KeptSteps {
    static constexpr uint64_t kMostTimes = 1 << 24, kBlock = 64;
    uint64_t steps = 0, every = 1; // of all; one block in so many

    KeptSteps(size_t joints, size_t ranks) : steps(joints - 1) {
        while (count() * ranks > kMostTimes && count() > kBlock)
            every++;
    }
    // Of the step that ends at this joint, or SIZE_MAX.
    size_t place_of(uint32_t joint) const {
        if (joint == 0)
            return SIZE_MAX;
        const uint64_t step = joint - 1, block = step / kBlock;
        return block % every ? SIZE_MAX : block / every * kBlock + step % kBlock;
    }
    uint64_t count() const {
        const uint64_t whole = steps / kBlock, kept = (whole + every - 1) / every;
        return kept * kBlock + (whole % every ? 0 : steps % kBlock);
    }
};

struct RowSteps {
    std::vector<float> work_s;
    double waited_s = 0, waited_before_s = 0, operation_s = 0;
    template <class Carrier> void carry(Carrier& carrier) { carrier(work_s, waited_s, waited_before_s, operation_s); }
};

struct StepsOfRows {
    explicit StepsOfRows(uint64_t steps) : longest(steps) {}

    std::map<uint32_t, RowSteps> rows;
    std::vector<Nanoseconds> longest; // of each kept step, as recorded

    void merge(StepsOfRows&& other) {
        rows.merge(other.rows);
        for (size_t step = 0; step < longest.size(); ++step)
            longest[step] = std::max(longest[step], other.longest[step]);
    }
    template <class Carrier> void carry(Carrier& carrier) { carrier(rows, longest); }
    bool fits(const Job&) const { return true; } // there is no team
};

// Where each row of the job has its column, and its place among the ranks of its host.
struct Columns {
    std::vector<uint32_t> row_of, ranks_on; // by column; by host with ranks
    std::vector<std::pair<uint32_t, int32_t>> place_of; // by row: host, and place on it

    explicit Columns(const Job& job) : row_of(job.ranks.size()), place_of(job.ranks.size()) {
        std::iota(row_of.begin(), row_of.end(), 0u);
        std::ranges::stable_sort(row_of, {}, [&](uint32_t row) { return job.ranks[row].host; });
        for (size_t column = 0; column < row_of.size(); ++column) {
            if (column == 0 || job.ranks[row_of[column]].host != job.ranks[row_of[column - 1]].host)
                ranks_on.push_back(0);
            place_of[row_of[column]] = {static_cast<uint32_t>(ranks_on.size() - 1), static_cast<int32_t>(ranks_on.back()++)};
        }
    }
};

uint32_t least_cpus(const model::Run& run, const Job& job) {
    uint32_t least = UINT32_MAX;
    for (const Rank& rank : job.ranks)
        if (rank.host < run.hosts.size()) {
            const model::Host& host = run.hosts[rank.host];
            least = std::min(least, static_cast<uint32_t>(host.allowed_cpus.empty() ? std::max(0, host.cpu_count)
                                                                                     : static_cast<int>(host.allowed_cpus.size())));
        }
    return least == UINT32_MAX ? 0 : least;
}

void add_noise(const Takers& takers, const Columns& columns, Nanoseconds begin, Nanoseconds end, model::MpiSteps& result) {
    const uint32_t most = *std::ranges::max_element(columns.ranks_on);
    std::map<uint32_t, size_t> kept; // by taker
    for (uint32_t taker = 0; taker < takers.takers().size(); ++taker)
        if (takers.takers()[taker].is_noise()) {
            kept[taker] = result.takers.size();
            model::NoiseTaker& one = result.takers.emplace_back(takers.takers()[taker]);
            one.losses = {.losses = {},
                          .nodes = static_cast<uint32_t>(columns.ranks_on.size()),
                          .cpus_per_node = most,
                          .measured_s = seconds(end - begin),
                          .least_s = 0};
        }
    for (const uint32_t row : columns.row_of)
        takers.for_each_taken(row, begin, end, [&](uint32_t taker, Nanoseconds from, Nanoseconds to) {
            const auto found = kept.find(taker);
            (found == kept.end() ? result.other_taken_s : result.taken_s) += seconds(to - from);
            if (found != kept.end())
                result.takers[found->second].losses.losses.push_back({.node = columns.place_of[row].first,
                                                                      .cpu = columns.place_of[row].second,
                                                                      .begin_s = seconds(from - begin),
                                                                      .length_s = seconds(to - from)});
        });
    std::erase_if(result.takers, [](const model::NoiseTaker& taker) { return taker.losses.losses.empty(); });
    result.recorded_share = takers.recorded_share();
}

} // namespace

model::MpiSteps steps_of(const model::Run& run, const Job& job, const EpochTable& epochs, const MatchedMessages& messages,
                         const OpenTrace& open, const RankWork& work) {
    const Joints joints(job, epochs);
    if (joints.arrival.size() < 2)
        return {};
    const Takers takers(run, job);
    const KeptSteps kept(joints.arrival.size(), job.ranks.size());
    const auto none = [&] { return StepsOfRows(kept.count()); };
    const auto read = work.for_leader(none, [&](uint32_t row, StepsOfRows& share) {
        RowSteps own;
        own.work_s.resize(kept.count());
        const auto take = [&](const RankStep& step) {
            const size_t place = kept.place_of(step.place);
            if (place >= own.work_s.size())
                return;
            const Nanoseconds last = joints.arrival[step.place];
            const Nanoseconds length = step.arrived - step.begin;
            own.work_s[place] = static_cast<float>(seconds(step.work(takers)));
            own.waited_s += seconds(last - step.arrived) + seconds(std::min(length, step.waited));
            own.waited_before_s += seconds(std::min(length, step.waited));
            own.operation_s += seconds(std::max(Nanoseconds{0}, step.left - last));
            share.longest[place] = std::max(share.longest[place], length);
        };
        try {
            RankEvents(run, job.ranks[row]).visit(open, StepReader(takers, epochs, messages, joints, row, take));
            share.rows.emplace(row, std::move(own));
        } catch (const Error&) {} // the other readings note it
    });
    model::MpiSteps result;
    if (!read || read->rows.size() != job.ranks.size())
        return result;
    const Columns columns(job);
    const auto ranks = static_cast<double>(job.ranks.size()), steps = static_cast<double>(kept.count());
    result.ranks = static_cast<uint32_t>(job.ranks.size());
    result.ranks_on = columns.ranks_on;
    result.cpus_per_node = least_cpus(run, job);
    result.steps = kept.count();
    result.message_stride = messages.weight;
    result.all_steps = kept.steps * epochs.stride();
    for (const auto& [row, own] : read->rows) {
        result.waited_s += own.waited_s / ranks;
        result.waited_before_s += own.waited_before_s / ranks;
        result.operation_s += own.operation_s / ranks / steps;
    }
    for (const Nanoseconds length : read->longest)
        result.elapsed_s += seconds(length);
    // Where collectives were thinned out, a rank's step is known from when it left the one before it.
    const double before_s = joints.all_are_here ? 0 : result.operation_s;
    result.elapsed_s += before_s * steps;
    result.work_s.resize(result.steps * result.ranks);
    for (uint32_t column = 0; column < result.ranks; ++column) {
        const std::vector<float>& own = read->rows.at(columns.row_of[column]).work_s;
        for (size_t step = 0; step < own.size(); ++step)
            result.work_s[step * result.ranks + column] = own[step] + static_cast<float>(before_s);
    }
    add_noise(takers, columns, joints.arrival.front(), joints.arrival.back(), result);
    return result;
}

} // namespace plumb::replay
