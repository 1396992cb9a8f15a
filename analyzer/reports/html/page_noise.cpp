#include "reports/html/page_noise.h"

#include "reports/html/rounded.h"
#include "reports/words/noise_words.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kMostColumns = 480, kMostTimelines = 16, kMostNodeBars = 2048;

// The worst part of each column: a mean would hide what a bulk-synchronous program feels.
Json columns_of(const model::LossSeries& series) {
    const size_t step = std::max<size_t>(1, (series.lost_ppm.size() + kMostColumns - 1) / kMostColumns);
    Json columns = Json::array();
    for (size_t at = 0; at < series.lost_ppm.size(); at += step) {
        const size_t end = std::min(at + step, series.lost_ppm.size());
        double sum = 0;
        uint32_t most = 0;
        for (size_t i = at; i < end; ++i) {
            sum += series.lost_ppm[i];
            most = std::max(most, series.lost_ppm[i]);
        }
        columns.push_back(Json::array({rounded(sum / static_cast<double>(end - at) * 1e-6, 1e4), rounded(most * 1e-6, 1e4)}));
    }
    return {{"step_s", static_cast<double>(series.interval_ns) * 1e-9 * static_cast<double>(step)}, {"columns", std::move(columns)}};
}

Json timelines_of(const Report& report) {
    const NoiseSummary& noise = *report.noise;
    std::vector<NoiseCpuLoss> worst = noise.cpus;
    std::ranges::stable_sort(worst, std::greater<>(), &NoiseCpuLoss::fraction);
    worst.resize(std::min(worst.size(), kMostTimelines));
    std::ranges::stable_sort(worst, [](const NoiseCpuLoss& left, const NoiseCpuLoss& right) {
        return std::tie(left.node, left.cpu->cpu) < std::tie(right.node, right.cpu->cpu);
    });
    Json timelines = Json::array();
    for (const NoiseCpuLoss& one : worst)
        for (const model::LossSeries& series : report.run->hosts[one.node].noise.series)
            if (series.cpu == one.cpu->cpu) {
                Json timeline = columns_of(series);
                timeline["node"] = one.node;
                timeline["cpu"] = one.cpu->cpu;
                timelines.push_back(std::move(timeline));
                break;
            }
    return timelines;
}

} // namespace

uint32_t repeating_nodes(const NoiseSummary& noise) {
    for (const model::NoiseClass& one : noise.machine.classes) // by loss
        if (one.nodes.every > 1 && one.nodes.every < noise.nodes.size())
            return one.nodes.every;
    return 0;
}

Json noise_chart_data(const Report& report) {
    const NoiseSummary& noise = *report.noise;
    Json lengths = Json::array(), nodes = Json::array();
    for (size_t bin = 1; bin < noise.counts.size(); ++bin)
        if (noise.counts[bin] > 0)
            lengths.push_back(Json::array({noise_bin_begin_s(bin), noise_bin_begin_s(bin + 1), noise.counts[bin], rounded(noise.times_s[bin], 1e9)}));
    const size_t step = (noise.nodes.size() + kMostNodeBars - 1) / kMostNodeBars;
    for (size_t at = 0; at < noise.nodes.size(); at += std::max<size_t>(step, 1)) {
        double worst = 0;
        for (size_t i = at; i < std::min(at + step, noise.nodes.size()); ++i)
            worst = std::max(worst, noise.nodes[i].fraction);
        nodes.push_back(Json::array({noise.nodes[at].node, step, rounded(worst, 1e5)}));
    }
    return {{"lengths", std::move(lengths)},
            {"timelines", timelines_of(report)},
            {"nodes", std::move(nodes)},
            {"every", step > 1 ? 0 : repeating_nodes(noise)}};
}

} // namespace plumb
