#include "support/figures.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace plumb {

namespace {

std::string grouped(int64_t value) {
    std::string digits = std::to_string(value);
    const size_t first = digits[0] == '-' ? 1 : 0;
    for (size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

} // namespace

std::string three_digits(double value) {
    const double magnitude = std::fabs(value);
    if (magnitude >= 99.95 || value == 0)
        return fmt::format("{:.0f}", value);
    if (magnitude >= 9.995)
        return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

std::string format_seconds(double seconds) {
    if (!std::isfinite(seconds))
        return "?";
    const double magnitude = std::fabs(seconds);
    if (magnitude >= 3599.5) {
        const auto minutes = static_cast<int64_t>(std::llround(seconds / 60));
        return fmt::format("{} h {:02d} min", minutes / 60, std::abs(minutes % 60));
    }
    if (magnitude >= 599.5) {
        const auto whole = static_cast<int64_t>(std::llround(seconds));
        return fmt::format("{} min {:02d} s", whole / 60, std::abs(whole % 60));
    }
    if (magnitude >= 0.9995)
        return three_digits(seconds) + " s";
    if (magnitude >= 0.9995e-3)
        return three_digits(seconds * 1e3) + " ms";
    if (magnitude >= 0.9995e-6)
        return three_digits(seconds * 1e6) + " us";
    return seconds == 0 ? "0 s" : three_digits(seconds * 1e9) + " ns";
}

std::string format_bytes(double bytes) {
    if (!std::isfinite(bytes))
        return "?";
    static constexpr std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (std::fabs(bytes) >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1024;
        unit++;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string format_fraction(double fraction) {
    if (!std::isfinite(fraction))
        return "?";
    const double percent = fraction * 100;
    const double magnitude = std::fabs(percent);
    if (percent > 0 && percent < 0.05)
        return "<0.1 %";
    return magnitude >= 9.95 || percent == 0 ? fmt::format("{:.0f} %", percent)
                                             : fmt::format("{:.1f} %", percent);
}

std::string format_count(double count) {
    if (!std::isfinite(count))
        return "?";
    const double magnitude = std::fabs(count);
    if (magnitude >= 999.5e15)
        return "more than 10^18";
    if (magnitude >= 999.5e12)
        return three_digits(count * 1e-15) + " P";
    if (magnitude >= 999.5e9)
        return three_digits(count * 1e-12) + " T";
    if (magnitude >= 999.5e6)
        return three_digits(count * 1e-9) + " G";
    if (magnitude >= 999.5e3)
        return three_digits(count * 1e-6) + " M";
    if (count == std::floor(count) || magnitude >= 999.5)
        return grouped(std::llround(count));
    return three_digits(count);
}

std::string counted(uint64_t count, const char* one, const char* many) {
    return format_count(static_cast<double>(count)) + " " + (count == 1 ? one : many);
}

} // namespace plumb
