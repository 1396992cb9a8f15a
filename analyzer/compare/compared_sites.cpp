#include "compare/compared_sites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace plumb {

namespace {

using RunList = std::vector<RunFigures>;
enum Figure { kCalls, kBytes, kSeconds, kFigures };

struct SiteValues { // of one place, of each run; 0 where a run does not have it
    std::string name;
    std::array<std::vector<double>, kFigures> base, other;
};

class SiteTable {
  public:
    SiteTable(const RunList& base, const RunList& other, Pairing pairing)
        : base_runs_(base.size()), other_runs_(other.size()), pairing_(pairing) {}

    SiteValues& at(const std::string& key, const std::string& name) {
        SiteValues& values = sites_[key];
        if (values.name.empty()) {
            values.name = name;
            values.base.fill(std::vector<double>(base_runs_));
            values.other.fill(std::vector<double>(other_runs_));
        }
        return values;
    }
    const std::map<std::string, SiteValues>& sites() const { return sites_; }

    // Whether the sum of all sites changed for certain.
    bool has_sum_changed(Figure figure) const {
        std::vector<double> base(base_runs_), other(other_runs_);
        for (const auto& [key, site] : sites_) {
            std::ranges::transform(base, site.base[figure], base.begin(), std::plus{});
            std::ranges::transform(other, site.other[figure], other.begin(), std::plus{});
        }
        return shift_between(base, other, pairing_).is_one();
    }

  private:
    std::map<std::string, SiteValues> sites_; // by key
    size_t base_runs_, other_runs_;
    Pairing pairing_;
};

bool are_equal(const std::vector<double>& values) {
    return std::ranges::all_of(values, [&](double one) { return one == values.front(); });
}

// Exact counts that are the same in all runs of a side have no noise, if there are several to see that by.
bool is_without_noise(const std::vector<double>& base, const std::vector<double>& other) {
    return base.size() > 1 && other.size() > 1 && are_equal(base) && are_equal(other);
}

// Of many estimates some seem to change by chance: then the sum must have as well.
bool has_count_changed(const SiteValues& site, Figure figure, const statistics::Shift& shift, bool is_exact, bool sum_changed) {
    const auto &base = site.base[figure], &other = site.other[figure];
    if (is_exact && is_without_noise(base, other))
        return base.front() != other.front();
    return sum_changed && shift.is_one();
}

std::vector<ComparedSite> sites_of(const SiteTable& table, Pairing pairing, bool is_exact, bool whole_changed) {
    const bool sum_of_calls = table.has_sum_changed(kCalls), sum_of_bytes = table.has_sum_changed(kBytes);
    std::vector<ComparedSite> sites;
    for (const auto& [key, values] : table.sites()) {
        ComparedSite site;
        site.name = values.name;
        site.calls = shift_between(values.base[kCalls], values.other[kCalls], pairing);
        site.bytes = shift_between(values.base[kBytes], values.other[kBytes], pairing);
        site.seconds = shift_between(values.base[kSeconds], values.other[kSeconds], pairing);
        site.calls_changed = has_count_changed(values, kCalls, site.calls, is_exact, sum_of_calls);
        site.bytes_changed = has_count_changed(values, kBytes, site.bytes, is_exact, sum_of_bytes);
        site.seconds_changed = whole_changed && site.seconds.is_one();
        sites.push_back(std::move(site));
    }
    return sites;
}

void sort_sites(std::vector<ComparedSite>& sites, statistics::Shift ComparedSite::*by) {
    std::ranges::stable_sort(sites, std::greater{}, [by](const ComparedSite& one) {
        return std::tuple(one.has_changed(), std::fabs((one.*by).more), std::fabs(one.calls.more));
    });
}

template <class Add> void for_each_run(const RunList& base, const RunList& other, Add add) {
    for (size_t i = 0; i < base.size(); ++i)
        add(base[i], &SiteValues::base, i);
    for (size_t i = 0; i < other.size(); ++i)
        add(other[i], &SiteValues::other, i);
}

using Side = std::array<std::vector<double>, kFigures> SiteValues::*;

} // namespace

std::vector<ComparedAmount> compared_lines(const RunList& base, const RunList& other, Pairing pairing, const PlaceMatch& match,
                                           bool whole_changed) {
    SiteTable table(base, other, pairing);
    for_each_run(base, other, [&](const RunFigures& run, Side side, size_t index) {
        for (const LineTime& one : run.lines)
            (table.at(match.key_of(one.place), match.name_of(one.place)).*side)[kSeconds][index] += one.seconds;
    });
    std::vector<ComparedAmount> lines;
    for (const auto& [key, values] : table.sites()) {
        const statistics::Shift more = shift_between(values.base[kSeconds], values.other[kSeconds], pairing);
        lines.push_back({values.name, more, whole_changed && more.is_one()});
    }
    return lines;
}

std::vector<ComparedSite> compared_allocations(const RunList& base, const RunList& other, Pairing pairing,
                                               const PlaceMatch& match) {
    SiteTable table(base, other, pairing);
    bool is_exact = true;
    for_each_run(base, other, [&](const RunFigures& run, Side side, size_t index) {
        is_exact = is_exact && run.allocations_are_exact;
        for (const AllocationSite& one : run.allocations) {
            auto& values = table.at(match.key_of(one.place), match.name_of(one.place)).*side;
            values[kCalls][index] += one.calls;
            values[kBytes][index] += one.bytes;
        }
    });
    std::vector<ComparedSite> sites = sites_of(table, pairing, is_exact, false);
    sort_sites(sites, &ComparedSite::bytes);
    return sites;
}

std::vector<ComparedSite> compared_mpi_sites(const RunList& base, const RunList& other, Pairing pairing,
                                             const PlaceMatch& match, bool whole_changed) {
    SiteTable table(base, other, pairing);
    for_each_run(base, other, [&](const RunFigures& run, Side side, size_t index) {
        for (const MpiSiteFigures& one : run.mpi_sites) {
            SiteValues& site = table.at(one.call + "\n" + match.key_of(one.place), one.call + " in " + match.name_of(one.place));
            auto& values = site.*side;
            values[kCalls][index] += one.calls;
            values[kBytes][index] += one.bytes;
            values[kSeconds][index] += one.seconds;
        }
    });
    std::vector<ComparedSite> sites = sites_of(table, pairing, true, whole_changed);
    sort_sites(sites, &ComparedSite::seconds);
    return sites;
}

} // namespace plumb
