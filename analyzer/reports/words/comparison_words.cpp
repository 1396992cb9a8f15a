#include "reports/words/comparison_words.h"

#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastShift_s = 0.001;

std::string percent_more(double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); }

std::string seconds_more(double seconds) { return (seconds < 0 ? "-" : "+") + format_seconds(std::fabs(seconds)); }

std::string from_to(const std::string& base, const std::string& other) { return base == other ? base : base + " -> " + other; }

} // namespace

bool is_shown(const ComparedFigure& figure, bool is_known) { return figure.has_changed() || !is_known; }

bool is_shown(const ComparedAmount& amount, bool is_known) {
    return std::fabs(amount.seconds.more) >= kLeastShift_s && (amount.has_changed || !is_known);
}

bool is_shown(const ComparedSite& site, bool is_known) {
    const bool differs = site.calls.more != 0 || site.bytes.more != 0 || std::fabs(site.seconds.more) >= kLeastShift_s;
    return site.has_changed() || (!is_known && differs);
}

std::string count_change_words(const statistics::Shift& shift) {
    return from_to(format_count(shift.base_median), format_count(shift.other_median));
}

std::string bytes_change_words(const statistics::Shift& shift) {
    return from_to(format_bytes(shift.base_median), format_bytes(shift.other_median));
}

std::string seconds_change_words(const statistics::Shift& shift) {
    return from_to(format_seconds(shift.base_median), format_seconds(shift.other_median));
}

std::string comparison_verdict(const Comparison& comparison) {
    const statistics::Difference& wall = comparison.wall.difference;
    if (!wall.is_known)
        return fmt::format("The wall time is {} in the base and {} in the others.", format_seconds(wall.base_median),
                           format_seconds(wall.other_median));
    if (!comparison.wall.has_changed())
        return fmt::format("The wall time did not change for certain: {}.", change_words(wall));
    return fmt::format("The wall time changed by {}.", change_words(wall));
}

std::string allocations_basis(const Comparison& comparison) {
    return comparison.allocations_are_exact ? "every allocation was counted" : "estimated from sampled allocations";
}

std::string change_words(const statistics::Difference& difference) {
    const std::string change = percent_more(difference.ratio) + " %";
    return difference.is_known ? fmt::format("{} ({} to {} %)", change, percent_more(difference.low), percent_more(difference.high))
                               : change;
}

const char* verdict_words(const ComparedFigure& figure) {
    if (!figure.difference.is_known)
        return "";
    if (!figure.has_changed())
        return "cannot tell";
    return figure.difference.ratio > 1 ? "more" : "less";
}

std::string shift_words(const statistics::Shift& shift) {
    const std::string more = seconds_more(shift.more);
    return shift.is_known ? fmt::format("{} ({} to {})", more, seconds_more(shift.low), seconds_more(shift.high)) : more;
}

const char* finding_change_words(FindingChange::Kind kind) {
    switch (kind) {
    case FindingChange::Kind::gone:
        return "gone";
    case FindingChange::Kind::added:
        return "new";
    case FindingChange::Kind::smaller:
        return "smaller";
    case FindingChange::Kind::larger:
        return "larger";
    case FindingChange::Kind::same:
        break;
    }
    return "same";
}

std::string placement_links_words(const Placements& placements) {
    return placements.are_of_bytes ? "links a byte passes" : "links between two nodes";
}

std::string pieces_words(const PlacedSide& side) {
    return side.least_pieces == side.most_pieces ? fmt::format("{}", side.most_pieces)
                                                 : fmt::format("{} to {}", side.least_pieces, side.most_pieces);
}

std::string placement_verdict(const Placements& placements) {
    const double saved = placements.saved();
    std::string words = fmt::format("The others took {} {} than the base on average.", format_fraction(std::abs(saved)),
                                    saved < 0 ? "more" : "less");
    const size_t runs = placements.runs.size();
    if (!placements.are_enough())
        return words + fmt::format(" Whether that has to do with the place takes {} runs or more.", Placements::kLeastRuns);
    if (placements.links_are_connected())
        return words + fmt::format(" Runs with more links took longer: rank correlation {:.2f} in {} runs; by chance it is that high in {} of "
                                   "such sets.", placements.correlation, runs, format_fraction(std::max(placements.chance, 1e-4)));
    return words + fmt::format(" That runs with more links take longer is not certain: rank correlation {:.2f} in {} runs, by chance at least "
                               "that high in {} of such sets.", placements.correlation, runs, format_fraction(placements.chance));
}

} // namespace plumb
