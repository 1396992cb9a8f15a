#include "analysis/present_findings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <fmt/format.h>

namespace plumb {

namespace {

double finite(double value) { return std::isfinite(value) ? value : 0; }

void make_presentable(Finding& finding) {
    finding.confidence = std::clamp(finite(finding.confidence), 0.0, 1.0);
    finding.cost.seconds = std::max(0.0, finite(finding.cost.seconds));
    finding.cost.fraction = std::clamp(finite(finding.cost.fraction), 0.0, 1.0);
    finding.gain.fraction = std::clamp(finite(finding.gain.fraction), 0.0, 1.0);
    if (finding.gain.at_least)
        finding.gain.at_least = std::max(0.0, finite(*finding.gain.at_least));
    if (finding.gain.at_least && *finding.gain.at_least >= finding.gain.fraction) // the estimate itself: no bound was found
        finding.gain.at_least.reset();
    for (Location& location : finding.where)
        location.share = std::clamp(finite(location.share), 0.0, 1.0);
    std::erase_if(finding.evidence, [](const auto& entry) {
        const double* number = std::get_if<double>(&entry.second);
        return number && !std::isfinite(*number);
    });
}

} // namespace

void take_findings(const std::string& id, const std::function<std::vector<Finding>()>& diagnose, Report& report) {
    try {
        for (Finding& finding : diagnose()) {
            make_presentable(finding);
            report.findings.push_back(std::move(finding));
        }
        report.looked_for.push_back(id);
    } catch (const std::exception& error) {
        report.evidence.push_back({id, model::Evidence::State::missing, fmt::format("this diagnosis failed: {}", error.what()),
                                   "please report it together with the run directory"});
    }
}

void sort_findings(std::vector<Finding>& findings) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& left, const Finding& right) {
        return left.severity != right.severity ? left.severity > right.severity : left.cost.fraction > right.cost.fraction;
    });
}

} // namespace plumb
