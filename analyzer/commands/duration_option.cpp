#include "commands/duration_option.h"

#include "support/error.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace plumb {

double parse_duration_s(const std::string& option, const std::string& text) {
    constexpr std::pair<std::string_view, double> kUnits[] = {{"s", 1},     {"ms", 1e-3}, {"us", 1e-6},
                                                               {"ns", 1e-9}, {"min", 60}, {"m", 60}, {"h", 3600}};
    double value = NAN;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error == std::errc{} && std::isfinite(value) && value >= 0) {
        const std::string_view unit(end, static_cast<size_t>(last - end));
        if (value == 0 && unit.empty())
            return 0;
        for (const auto& known : kUnits)
            if (known.first == unit)
                return value * known.second;
    }
    throw UsageError(fmt::format("{} {}: a time with its unit is needed, as 0, 20us, 1ms, 1.5s or 2h", option, text));
}

} // namespace plumb
