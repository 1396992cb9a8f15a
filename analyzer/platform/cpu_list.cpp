#include "platform/cpu_list.h"

#include <algorithm>
#include <charconv>

namespace plumb::platform {

namespace {

// Kernels are built for 8,192 CPUs at most. Bounds the memory and the time that an odd text can ask for.
constexpr int kLargest = (1 << 16) - 1;

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
}

} // namespace

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
        if (cpus.size() + static_cast<size_t>(last - first) > size_t{kLargest})
            return std::nullopt; // repeats itself
        for (int begin = first; begin <= last; begin += group)
            for (int cpu = begin; cpu < begin + used && cpu <= last; ++cpu)
                cpus.push_back(cpu);
        if (!text.empty() && (!take(text, ',') || text.empty()))
            return std::nullopt;
    }
    if (std::ranges::adjacent_find(cpus, std::ranges::greater_equal{}) == cpus.end()) // as the kernel writes them
        return cpus;
    std::ranges::sort(cpus);
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (size_t i = 0; i < cpus.size();) {
        size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
        if (last > i)
            text += "-" + std::to_string(cpus[last]);
        i = last + 1;
    }
    return text;
}

} // namespace plumb::platform
