// What changes from point to point of a sweep, and how a command says where it goes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plumb::scale {

enum class Axis { threads, ranks, copies, size };

struct PointValue {
    std::string text; // as it is put into the command
    double value = 0; // above 0
};

const char* name_of(Axis axis);            // "threads"
std::string placeholder_of(Axis axis);     // "{threads}"; of copies "{copy}": the number of a copy, from 0
inline constexpr const char* kCopy = "{copy}";

bool holds(const std::vector<std::string>& words, const std::string& placeholder);

// Each word with `text` instead of the placeholder, however often it occurs.
std::vector<std::string> filled(std::vector<std::string> words, const std::string& placeholder, const std::string& text);

// The powers of two below the number of CPUs, and that number.
std::vector<PointValue> default_points(size_t cpus);

// "1,2,4" in ascending order, each once: whole numbers, for a size any number above 0. Throws Error.
std::vector<PointValue> parse_points(Axis axis, const std::string& list);

} // namespace plumb::scale
