#include "analyses/time/counter_ratio.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace plumb {

namespace {

struct Together {
    double numerator = 0, denominator = 0;
    bool has_numerator = false, has_denominator = false;
    uint64_t begin_ns = 0, end_ns = 0;
};

// Of slices that may overlap: those of several processes.
double covered_ns(std::vector<std::pair<uint64_t, uint64_t>> spans) {
    std::ranges::sort(spans);
    uint64_t covered = 0, end_ns = 0;
    for (const auto& [begin, end] : spans) {
        covered += end > std::max(begin, end_ns) ? end - std::max(begin, end_ns) : 0;
        end_ns = std::max(end_ns, end);
    }
    return static_cast<double>(covered);
}

} // namespace

std::optional<CounterRatio> counter_ratio(const model::Run& run, std::string_view numerator, std::string_view denominator) {
    double sum = 0, of_sum = 0, longest_ns = 0;
    for (const model::Host& host : run.hosts) {
        std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Together> slices;
        for (const model::CounterSlice& slice : host.counters) {
            if (slice.event != numerator && slice.event != denominator)
                continue;
            Together& together = slices[{slice.pid, slice.group, slice.begin_ns}];
            together.begin_ns = slice.begin_ns;
            together.end_ns = slice.end_ns;
            if (slice.event == numerator) {
                together.numerator += static_cast<double>(slice.count);
                together.has_numerator = true;
            } else {
                together.denominator += static_cast<double>(slice.count);
                together.has_denominator = true;
            }
        }
        std::vector<std::pair<uint64_t, uint64_t>> spans;
        for (const auto& [key, together] : slices) {
            if (!together.has_numerator || !together.has_denominator)
                continue;
            sum += together.numerator;
            of_sum += together.denominator;
            spans.emplace_back(together.begin_ns, together.end_ns);
        }
        longest_ns = std::max(longest_ns, covered_ns(std::move(spans)));
    }
    if (of_sum <= 0)
        return std::nullopt;
    const auto wall_ns = static_cast<double>(std::max<uint64_t>(run.wall_ns(), 1));
    return CounterRatio{sum / of_sum, std::min(1.0, longest_ns / wall_ns)};
}

} // namespace plumb
