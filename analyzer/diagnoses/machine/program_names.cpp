#include "diagnoses/machine/program_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace plumb {

std::string program_list(const std::map<std::string, double>& seconds_by_name) {
    constexpr size_t kNamed = 3;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, seconds] : seconds_by_name)
        order.emplace_back(seconds, name.empty() ? "?" : name);
    std::ranges::stable_sort(order, [](const auto& left, const auto& right) { return left.first > right.first; });
    const size_t named = order.size() == kNamed + 1 ? kNamed + 1 : std::min(order.size(), kNamed);
    std::string words;
    for (size_t i = 0; i < named; ++i)
        words += fmt::format("{}{}", i == 0 ? "" : i + 1 == order.size() ? " and " : ", ", order[i].second);
    return order.size() > named ? words + fmt::format(" and {} others", order.size() - named) : words;
}

} // namespace plumb
