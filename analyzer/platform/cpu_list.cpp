#include "platform/cpu_list.h"

<<<<<<< HEAD
#include <algorithm>
#include <charconv>
=======
#include "support/error.h"

#include <charconv>
#include <fmt/core.h>
>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)

namespace plumb::platform {

namespace {

<<<<<<< HEAD
constexpr int kLargest = (1 << 20) - 1; // bounds the memory an odd text can ask for

bool take_number(std::string_view& text, int& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0 || number > kLargest)
        return false;
    text.remove_prefix(end - text.data());
    return true;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c)
        return false;
    text.remove_prefix(1);
    return true;
=======
std::string_view trimmed(std::string_view text) {
    const char* const space = " \t\r\n";
    const size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

[[noreturn]] void refuse(std::string_view part, const char* why) {
    throw Error(fmt::format("'{}' is not a list of CPUs: {}; write numbers and ranges such as 0,2,4-7,8-14:2",
                            part, why));
}

// Takes a number off the front of `rest`.
int take_number(std::string_view& rest, std::string_view part) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{} || number < 0)
        refuse(part, "a number was expected");
    if (number >= kMaxCpus)
        refuse(part, "the number is too large");
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return number;
}

bool take(std::string_view& rest, char character) {
    if (rest.empty() || rest.front() != character)
        return false;
    rest.remove_prefix(1);
    return true;
}

void append_part(std::string_view part, std::vector<int>& cpus) {
    std::string_view rest = part;
    const int first = take_number(rest, part);
    int last = first, step = 1;
    if (take(rest, '-')) {
        last = take_number(rest, part);
        if (take(rest, ':'))
            step = take_number(rest, part);
    }
    if (!rest.empty())
        refuse(part, "something follows the number or range");
    if (last < first)
        refuse(part, "the range runs backwards");
    if (step == 0)
        refuse(part, "the step is 0");
    for (int cpu = first; cpu <= last; cpu += step) {
        if (cpus.size() >= static_cast<size_t>(kMaxCpus))
            refuse(part, "it names too many CPUs");
        cpus.push_back(cpu);
    }
>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)
}

} // namespace

<<<<<<< HEAD
std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\0'))
        text.remove_suffix(1);
    std::vector<int> cpus;
    while (!text.empty()) {
        int first = 0, used = 1, group = 1;
        if (!take_number(text, first))
            return std::nullopt;
        int last = first;
        if (take(text, '-') && (!take_number(text, last) || last < first))
            return std::nullopt;
        if (take(text, ':') && (!take_number(text, used) || !take(text, '/') || !take_number(text, group)))
            return std::nullopt;
        if (used < 1 || group < used)
            return std::nullopt;
        for (int begin = first; begin <= last; begin += group)
            for (int cpu = begin; cpu < begin + used && cpu <= last; ++cpu)
                cpus.push_back(cpu);
        if (!text.empty() && (!take(text, ',') || text.empty()))
            return std::nullopt;
    }
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
=======
std::vector<int> parse_cpu_list(std::string_view text) {
    std::vector<int> cpus;
    text = trimmed(text);
    if (text.empty())
        return cpus;
    while (true) {
        const size_t comma = text.find(',');
        append_part(trimmed(text.substr(0, comma)), cpus);
        if (comma == std::string_view::npos)
            return cpus;
        text.remove_prefix(comma + 1);
    }
>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)
}

std::string format_cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (size_t i = 0; i < cpus.size();) {
        size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            ++last;
<<<<<<< HEAD
        text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
        if (last > i)
            text += "-" + std::to_string(cpus[last]);
=======
        text += text.empty() ? "" : ",";
        text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)
        i = last + 1;
    }
    return text;
}

} // namespace plumb::platform
