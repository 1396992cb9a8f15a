#include "diagnoses/mpi/excess_time_lines.h"

#include "analyses/time/own_time.h"
#include "analyses/time/parallel_runtime.h"
#include "model/source_line.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace plumb {

namespace {

constexpr size_t kMostCompared = 32; // ranks of either side whose samples are looked up
constexpr double kNearlyAll = 0.75;

struct LineTimes {
    model::SourceFrame frame;
    std::vector<double> seconds; // of each compared rank: the late ones, then the others
    uint64_t samples = 0;        // of all of them
    double sum_s() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
};

// How far apart two ranks that spend the same time on a line come by the chance of sampling, hardly ever farther: three
// times the standard deviation of the difference of two counts, as there are many lines.
double chance_seconds(const LineTimes& line, double late_s, double other_s) {
    return line.samples ? 3 * std::sqrt((late_s + other_s) * line.sum_s() / static_cast<double>(line.samples)) : 0;
}

// CPU seconds of the process outside MPI by the user's line: where a rank spins for a message it has no work. Returns the samples,
// those in MPI included.
uint64_t add_lines(model::CallPaths& paths, size_t process, size_t place, size_t places, std::map<model::SourceLine, LineTimes>& lines) {
    uint64_t samples = 0;
    for (const model::SampleSite& site : paths.run().processes[process].samples) {
        if (is_own_code(paths, process, site.path))
            continue;
        samples += site.samples;
        if (parallel_runtime_of(paths, process, site.path) == ParallelRuntime::mpi)
            continue;
        const model::SourceFrame frame = paths.user_frame(process, site.path);
        LineTimes& line = lines[model::source_line(frame)];
        if (line.seconds.empty()) {
            line.frame = frame;
            line.seconds.resize(places);
        }
        line.seconds[place] += static_cast<double>(site.time_ns) * 1e-9;
        line.samples += site.samples;
    }
    return samples;
}

// Evenly chosen, at most kMostCompared of them.
template <class Item> std::vector<Item> chosen_of(const std::vector<Item>& all) {
    std::vector<Item> chosen;
    const size_t step = 1 + (all.empty() ? 0 : (all.size() - 1) / kMostCompared);
    for (size_t i = 0; i < all.size(); i += step)
        chosen.push_back(all[i]);
    return chosen;
}

// What the lines say of one late rank.
struct RankExcess {
    double most_s = 0;
    model::SourceLine heaviest;
};

std::vector<std::vector<size_t>> parts_of(const std::vector<RankExcess>& ranks) {
    std::map<model::SourceLine, std::vector<size_t>> by_line;
    std::vector<std::vector<size_t>> parts;
    for (size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i].most_s > 0)
            by_line[ranks[i].heaviest].push_back(i);
        else
            parts.push_back({i});
    for (auto& [line, part] : by_line)
        parts.push_back(std::move(part));
    std::ranges::sort(parts); // by the first rank of each
    return parts;
}

} // namespace

ExcessTimeLines excess_time_lines(model::CallPaths& paths, const model::MpiJob& job,
                                  const std::vector<const model::MpiRankRow*>& late) {
    std::vector<const model::MpiRankRow*> others;
    for (const model::MpiRankRow& row : job.ranks)
        if (!std::ranges::binary_search(late, row.rank, {}, &model::MpiRankRow::rank))
            others.push_back(&row);
    const std::vector<const model::MpiRankRow*> members = chosen_of(late), compared = chosen_of(others);
    const size_t places = members.size() + compared.size();
    std::map<model::SourceLine, LineTimes> lines;
    ExcessTimeLines extra;
    for (size_t place = 0; place < places; ++place)
        extra.samples += add_lines(paths, (place < members.size() ? members[place] : compared[place - members.size()])->process, place,
                                   places, lines);
    LineShares perhaps; // no more than chance
    std::vector<RankExcess> own(members.size());
    size_t most_on_one_line = 0;
    double late_s = 0, usual_sum_s = 0; // on the lines that are more
    for (auto& [key, line] : lines) {
        const auto first = line.seconds.begin() + static_cast<ptrdiff_t>(members.size());
        const auto middle = first + static_cast<ptrdiff_t>(compared.size() / 2);
        double usual_s = 0;
        if (!compared.empty()) {
            std::nth_element(first, middle, line.seconds.end());
            usual_s = *middle;
        }
        size_t here = 0;
        for (size_t member = 0; member < members.size(); ++member) {
            const double more_s = line.seconds[member] - usual_s; // nothing is added for what is not more
            const bool is_more = more_s > chance_seconds(line, line.seconds[member], usual_s);
            (is_more ? extra.lines : perhaps).add(line.frame, more_s);
            here += is_more;
            extra.cpu_s += is_more ? more_s : 0;
            late_s += is_more ? line.seconds[member] : 0;
            usual_sum_s += is_more ? usual_s : 0;
            if (is_more && more_s > own[member].most_s)
                own[member] = {more_s, key};
        }
        most_on_one_line = std::max(most_on_one_line, here);
    }
    const auto known = static_cast<size_t>(std::ranges::count_if(own, [](const RankExcess& rank) { return rank.most_s > 0; }));
    extra.usual_share = late_s > 0 ? usual_sum_s / late_s : 0;
    extra.known = 2 * known > members.size();
    extra.is_shared = static_cast<double>(most_on_one_line) >= kNearlyAll * static_cast<double>(known);
    if (!members.empty())
        extra.cpu_s *= static_cast<double>(late.size()) / static_cast<double>(members.size());
    if (members.size() == late.size()) {
        extra.parts = parts_of(own);
    } else {
        std::vector<size_t> all(late.size());
        std::iota(all.begin(), all.end(), 0);
        extra.parts.push_back(std::move(all));
    }
    if (extra.lines.heaviest(1).empty())
        extra.lines = std::move(perhaps);
    return extra;
}

} // namespace plumb
