#include "diagnoses/mpi/common_trait.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace plumb {

namespace {

constexpr size_t kMostNamed = 6, kMostPlaces = 3;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The places (nodes, executables) that have all of these ranks and no others; empty where there is but one place at all, or some
// ranks of a place are not among them. `place_of`: of a row of the job.
template <class Place>
std::vector<std::string> whole_places(const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& rows, const Place& place_of) {
    std::set<std::string> late, usual;
    size_t next = 0;
    for (const model::MpiRankRow& row : job.ranks) {
        const bool is_late = next < rows.size() && rows[next] == &row;
        next += is_late;
        (is_late ? late : usual).insert(place_of(row));
    }
    if (usual.empty() || std::ranges::any_of(late, [&](const std::string& place) { return place.empty() || usual.contains(place); }))
        return {};
    return {late.begin(), late.end()};
}

std::string places_in_words(const char* one, const char* several, const std::vector<std::string>& places) {
    if (places.size() <= kMostPlaces)
        return fmt::format("{}{}", places.size() == 1 ? one : several, fmt::join(places, ", "));
    return fmt::format("{}{}, {} and {} others", several, places[0], places[1], places.size() - 2);
}

std::string nth(int number) {
    static const char* const names[] = {"", "", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
    return number < static_cast<int>(std::size(names)) ? names[number] : fmt::format("{}th", number);
}

// The distance of ranks that are all those of the job at that distance; 0: they are not.
int stride_of(const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& rows) {
    const int stride = rows[1]->rank - rows[0]->rank;
    if (stride < 2)
        return 0;
    for (size_t i = 1; i < rows.size(); ++i)
        if (rows[i]->rank - rows[i - 1]->rank != stride)
            return 0;
    return rows[0]->rank < stride && rows.back()->rank + stride >= job.size ? stride : 0;
}

} // namespace

CommonTrait common_trait(const model::Run& run, const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& rows) {
    if (rows.size() < 2)
        return {};
    const auto host = [&](const model::MpiRankRow& row) {
        return row.host < run.hosts.size() ? run.hosts[row.host].name : std::string();
    };
    if (const auto nodes = whole_places(job, rows, host); !nodes.empty())
        return {CommonTrait::Kind::node, places_in_words("node ", "nodes ", nodes)};
    const auto executable = [&](const model::MpiRankRow& row) {
        return row.process < run.processes.size() ? file_name(run.processes[row.process].executable) : std::string();
    };
    if (const auto executables = whole_places(job, rows, executable); !executables.empty())
        return {CommonTrait::Kind::executable, places_in_words("", "", executables)};
    if (const int stride = stride_of(job, rows))
        return {CommonTrait::Kind::stride, fmt::format("every {} rank", nth(stride))};
    if (rows.back()->rank - rows.front()->rank == static_cast<int>(rows.size()) - 1)
        return {CommonTrait::Kind::range, ""};
    return {};
}

std::string ranks_in_words(const std::vector<int>& ranks) {
    std::vector<std::string> parts;
    for (size_t first = 0; first < ranks.size();) {
        size_t last = first;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
            ++last;
        if (last - first == 1) // two are not worth a dash
            last = first;
        parts.push_back(last == first ? std::to_string(ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]));
        first = last + 1;
    }
    if (parts.size() <= kMostNamed)
        return fmt::format("{}", fmt::join(parts, ", "));
    parts.resize(kMostNamed - 1);
    return fmt::format("{}, ...", fmt::join(parts, ", "));
}

} // namespace plumb
