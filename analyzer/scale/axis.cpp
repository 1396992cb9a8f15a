#include "scale/axis.h"

#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace plumb::scale {

namespace {

constexpr double kMostParts = 1 << 20; // threads, ranks or copies

PointValue point_from(Axis axis, const std::string& word) {
    PointValue point{word, 0};
    const char* const end = word.data() + word.size();
    const auto [rest, failure] = std::from_chars(word.data(), end, point.value);
    const bool is_size = axis == Axis::size;
    if (failure != std::errc() || rest != end || !std::isfinite(point.value) || point.value <= 0 ||
        (!is_size && (point.value != std::floor(point.value) || point.value > kMostParts)))
        throw Error(fmt::format("--{}: \"{}\" is not {}", name_of(axis), word,
                                is_size ? "a number above 0" : "a whole number above 0"));
    if (!is_size)
        point.text = fmt::format("{:.0f}", point.value);
    return point;
}

} // namespace

const char* name_of(Axis axis) {
    switch (axis) {
    case Axis::threads: return "threads";
    case Axis::ranks: return "ranks";
    case Axis::copies: return "copies";
    case Axis::size: break;
    }
    return "size";
}

std::string placeholder_of(Axis axis) { return axis == Axis::copies ? kCopy : fmt::format("{{{}}}", name_of(axis)); }

bool holds(const std::vector<std::string>& words, const std::string& placeholder) {
    return std::ranges::any_of(words, [&](const std::string& word) { return word.find(placeholder) != std::string::npos; });
}

std::vector<std::string> filled(std::vector<std::string> words, const std::string& placeholder, const std::string& text) {
    for (std::string& word : words)
        for (size_t at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, at + text.size()))
            word.replace(at, placeholder.size(), text);
    return words;
}

std::vector<PointValue> default_points(size_t cpus) {
    std::vector<PointValue> points;
    for (size_t count = 1; count < cpus; count *= 2)
        points.push_back({std::to_string(count), static_cast<double>(count)});
    points.push_back({std::to_string(cpus), static_cast<double>(cpus)});
    return points;
}

std::vector<PointValue> parse_points(Axis axis, const std::string& list) {
    std::vector<PointValue> points;
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        points.push_back(point_from(axis, list.substr(begin, end - begin)));
        begin = end + 1;
    }
    std::ranges::stable_sort(points, {}, &PointValue::value);
    const auto is_same = [](const PointValue& left, const PointValue& right) { return left.value == right.value; };
    points.erase(std::unique(points.begin(), points.end(), is_same), points.end());
    return points;
}

} // namespace plumb::scale
