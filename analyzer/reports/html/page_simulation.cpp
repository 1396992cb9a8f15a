#include "reports/html/page_simulation.h"

#include "reports/html/rounded.h"
#include "reports/json/document.h"
#include "reports/words/simulation_words.h"

#include <algorithm>
#include <functional>

namespace plumb {

namespace {

using simulate::AtGranularity;
using simulate::Estimate;
using simulate::LossByLength;
using simulate::Study;

constexpr size_t kMostChartedChanges = 20, kMostChartedClasses = 24;
constexpr double kLeastShare = 0.001, kShortest_s = 1e-6; // where the first bin begins

double largest_share(const Study& study, size_t noise_class) {
    double most = 0;
    for (const AtGranularity& at : study.granularities)
        most = std::max(most, at.classes[noise_class].share);
    return most;
}

std::vector<double> shares_of(const std::vector<double>& parts, const std::vector<double>& all) {
    std::vector<double> shares;
    for (size_t i = 0; i < parts.size(); i++)
        shares.push_back(all[i] > 0 ? std::min(1.0, parts[i] / all[i]) : 0);
    return shares;
}

Json estimate_data(const Estimate& value) {
    return Json::array({rounded(value.mean, 1e9), rounded(value.half_width, 1e9)});
}

template <class GainOf> Json what_if_data(const Study& study, const std::string& label, GainOf gain_of) {
    Json gains = Json::array();
    for (const AtGranularity& at : study.granularities)
        gains.push_back(estimate_data(gain_of(at)));
    return Json::array({label, std::move(gains)});
}

Json changes_data(const Study& study) {
    Json changes = Json::array();
    for (size_t i = 0; i < std::min(study.order.size(), kMostChartedChanges); i++) {
        const size_t change = study.order[i];
        changes.push_back(what_if_data(study, study.granularities.front().changes[change].label,
                                       [change](const AtGranularity& at) { return at.changes[change].gain; }));
    }
    if (study.order.size() > 1)
        changes.push_back(what_if_data(study, "all together", [](const AtGranularity& at) { return at.together.gain; }));
    return changes;
}

Json classes_data(const Study& study) {
    std::vector<size_t> order = classes_by_share(study);
    order.resize(std::min(order.size(), kMostChartedClasses));
    Json classes = Json::array();
    for (const size_t i : order) {
        const model::NoiseClass& one = study.plan.base.machine.classes[i];
        Json shares = Json::array();
        for (const AtGranularity& at : study.granularities)
            shares.push_back(rounded(at.classes[i].share, 1e5));
        classes.push_back(Json::array({one.name, one.group, one.duration.mean_s, std::move(shares)}));
    }
    return classes;
}

Json sizes_data(const Study& study) {
    Json sizes = Json::array();
    for (const simulate::AtScale& at : study.scales) {
        Json cycles = Json::array();
        for (size_t i = 0; i < at.cycle_s.size(); i++)
            cycles.push_back(Json::array(
                {estimate_data(at.cycle_s[i]), estimate_data(at.changed_cycle_s[i]), rounded(at.quiet_cycle_s[i], 1e9)}));
        sizes.push_back(Json::array({at.ranks, at.nodes, std::move(cycles)}));
    }
    return sizes;
}

} // namespace

std::vector<size_t> classes_by_share(const Study& study) {
    std::vector<size_t> order;
    for (size_t i = 0; i < study.granularities.front().classes.size(); i++)
        if (largest_share(study, i) >= kLeastShare)
            order.push_back(i);
    std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return largest_share(study, i); });
    return order;
}

std::vector<CumulativeLoss> cumulative_losses(const Study& study) {
    std::vector<double> all_s(study.granularities.size()), below_s(study.granularities.size());
    for (size_t g = 0; g < all_s.size(); g++)
        for (const double delay_s : study.granularities[g].loss.delay_s)
            all_s[g] += delay_s;
    std::vector<CumulativeLoss> steps;
    for (size_t bin = 0; bin < LossByLength::kBins; bin++) {
        if (std::ranges::none_of(study.granularities, [&](const AtGranularity& at) { return at.loss.delay_s[bin] > 0; }))
            continue;
        const double begin_s = bin > 0 ? LossByLength::upper_s(bin - 1) : kShortest_s;
        if (steps.empty() || steps.back().length_s < begin_s)
            steps.push_back({begin_s, shares_of(below_s, all_s)}); // where it begins to rise
        for (size_t g = 0; g < all_s.size(); g++)
            below_s[g] += study.granularities[g].loss.delay_s[bin];
        steps.push_back({LossByLength::upper_s(bin), shares_of(below_s, all_s)});
    }
    return steps;
}

Json simulation_chart_data(const Study& study) {
    Json granularities = Json::array(), lengths = Json::array();
    for (const AtGranularity& at : study.granularities)
        granularities.push_back(granularity_words(at.work_s));
    for (const CumulativeLoss& step : cumulative_losses(study)) {
        Json shares = Json::array();
        for (const double share : step.shares)
            shares.push_back(rounded(share, 1e5));
        lengths.push_back(Json::array({rounded(step.length_s, 1e9), std::move(shares)}));
    }
    return {{"granularities", std::move(granularities)},
            {"changes", changes_data(study)},
            {"classes", classes_data(study)},
            {"lengths", std::move(lengths)},
            {"sizes", sizes_data(study)}};
}

} // namespace plumb
