#include "support/cpu_list.h"

#include <fmt/format.h>

namespace plumb {

std::string format_cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (size_t first = 0; first < cpus.size();) {
        size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            last++;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[first]);
        if (last > first)
            text += fmt::format("{}{}", last == first + 1 ? "," : "-", cpus[last]);
        first = last + 1;
    }
    return text;
}

} // namespace plumb
