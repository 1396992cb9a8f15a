#include "compare/match_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace plumb {

namespace {

using RunSet = std::vector<RunFigures>;

template <class Visit> void for_each_place(const RunSet& runs, Visit visit) {
    for (const RunFigures& run : runs) {
        for (const LineTime& one : run.lines)
            visit(one.place);
        for (const AllocationSite& one : run.allocations)
            visit(one.place);
        for (const MpiSiteFigures& one : run.mpi_sites)
            visit(one.place);
    }
}

// Every run of both sets has the module, and the same build of it.
bool is_one_build(const RunSet& base, const RunSet& other, const std::string& module) {
    std::set<std::string> ids;
    for (const RunSet* runs : {&base, &other})
        for (const RunFigures& run : *runs) {
            const auto found = run.build_ids.find(module);
            ids.insert(found == run.build_ids.end() ? "" : found->second);
        }
    return ids.size() == 1 && !ids.contains("");
}

bool has_line(const RunSet& runs, const std::string& file, const std::string& text) {
    return std::ranges::any_of(runs, [&](const RunFigures& run) {
        const auto found = run.source_texts.find(file);
        return found != run.source_texts.end() && found->second.contains(text);
    });
}

} // namespace

PlaceMatch::PlaceMatch(const RunSet& base, const RunSet& other) {
    decide(base, other);
    pair_changed_lines(base, other);
    const auto remember = [this](uint32_t Lines::*line) {
        return [this, line](const ComparedPlace& place) {
            Lines& lines = lines_[key_of(place)];
            if (lines.*line == 0)
                lines.*line = place.line;
        };
    };
    for_each_place(base, remember(&Lines::base));
    for_each_place(other, remember(&Lines::other));
}

void PlaceMatch::decide(const RunSet& base, const RunSet& other) {
    std::map<std::string, std::set<std::string>> modules, reasons; // by file
    for (const auto& [runs, side] : {std::pair(&base, "the base"), std::pair(&other, "the others")})
        for_each_place(*runs, [&, name = side](const ComparedPlace& place) {
            if (place.line == 0)
                return;
            modules[place.file].insert(place.module);
            if (!place.why_no_text.empty())
                reasons[place.file].insert(fmt::format("of {} {}", name, place.why_no_text));
        });
    for (const auto& [file, names] : modules) {
        const auto is_same_here = [&](const std::string& name) { return is_one_build(base, other, name); };
        const bool is_same = std::ranges::all_of(names, is_same_here);
        const auto& why = reasons[file];
        by_file_[file] = is_same || !why.empty() ? By::number : By::text;
        if (!is_same && !why.empty())
            notes_.push_back(fmt::format("Lines of {} are matched by number, not by their text: the source {}. If lines were "
                                         "inserted or removed, those below have other numbers, and appear as gone and new.",
                                         file, *why.begin()));
    }
}

void PlaceMatch::pair_changed_lines(const RunSet& base, const RunSet& other) {
    using Keys = std::map<std::pair<std::string, std::string>, std::set<std::string>>; // by function and file
    const auto changed_in = [this](const RunSet& runs, const RunSet& others) {
        Keys keys;
        for_each_place(runs, [&](const ComparedPlace& place) {
            if (place.line > 0 && by_file_.at(place.file) == By::text && !has_line(others, place.file, place.text))
                keys[{place.function, place.file}].insert(own_key(place));
        });
        return keys;
    };
    const Keys gone = changed_in(base, other), added = changed_in(other, base);
    for (const auto& [function, keys] : gone)
        if (const auto found = added.find(function); found != added.end() && keys.size() == 1 && found->second.size() == 1)
            changed_[*found->second.begin()] = *keys.begin();
}

std::string PlaceMatch::own_key(const ComparedPlace& place) const {
    if (place.line == 0)
        return fmt::format("{}\n{}", place.function, place.module);
    if (by_file_.at(place.file) == By::number)
        return fmt::format("{}\n{}\n{}", place.function, place.file, place.line);
    return fmt::format("{}\n{}\n{}\n{}", place.function, place.file, place.ordinal, place.text);
}

std::string PlaceMatch::key_of(const ComparedPlace& place) const {
    std::string key = own_key(place);
    const auto changed = changed_.find(key);
    return changed == changed_.end() ? key : changed->second;
}

std::string PlaceMatch::name_of(const ComparedPlace& place) const {
    if (place.file.empty() || place.line == 0)
        return fmt::format("{} in {}", place.function, place.module);
    const Lines& lines = lines_.at(key_of(place));
    const uint32_t first = lines.base ? lines.base : lines.other, last = lines.other ? lines.other : lines.base;
    return first == last ? fmt::format("{} at {}:{}", place.function, place.file, first)
                         : fmt::format("{} at {}:{} -> {}", place.function, place.file, first, last);
}

} // namespace plumb
