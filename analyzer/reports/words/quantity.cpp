#include "reports/words/quantity.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

bool take_suffix(std::string& key, std::string_view suffix) {
    if (key.size() <= suffix.size() || !key.ends_with(suffix))
        return false;
    key.resize(key.size() - suffix.size());
    return true;
}

std::string words_of(std::string key) {
    for (char& letter : key)
        if (letter == '_')
            letter = ' ';
    return key;
}

std::string number_with_unit(std::string& key, double value) {
    if (take_suffix(key, "_fraction") || take_suffix(key, "_share"))
        return format_fraction(value);
    if (take_suffix(key, "_percent"))
        return format_fraction(value / 100);
    if (take_suffix(key, "_seconds"))
        return format_seconds(value);
    if (take_suffix(key, "_ms"))
        return format_seconds(value * 1e-3);
    if (take_suffix(key, "_us"))
        return format_seconds(value * 1e-6);
    if (take_suffix(key, "_ns"))
        return format_seconds(value * 1e-9);
    if (take_suffix(key, "_bytes_per_second"))
        return format_bytes(value) + "/s";
    if (take_suffix(key, "_per_second"))
        return format_count(value) + "/s";
    if (take_suffix(key, "_bytes"))
        return format_bytes(value);
    if (take_suffix(key, "_ratio"))
        return three_digits(value) + "x";
    return format_count(value);
}

template <typename T> std::string joined(const std::vector<T>& items, size_t limit) {
    std::string text;
    for (size_t index = 0; index < items.size() && index < limit; index++)
        text += fmt::format("{}{}", index ? ", " : "", items[index]);
    if (items.size() > limit)
        text += fmt::format(" and {} more", items.size() - limit);
    return text.empty() ? "none" : text;
}

struct EvidencePhrase {
    const std::string& key;
    size_t list_limit;

    std::string operator()(bool value) const { return words_of(key) + (value ? ": yes" : ": no"); }
    std::string operator()(int64_t value) const { return operator()(static_cast<double>(value)); }
    std::string operator()(double value) const {
        std::string name = key;
        const std::string number = number_with_unit(name, value);
        return words_of(name) + " " + number;
    }
    std::string operator()(const std::string& value) const { return words_of(key) + " " + value; }
    template <typename T> std::string operator()(const std::vector<T>& value) const {
        return words_of(key) + " " + joined(value, list_limit);
    }
};

} // namespace

std::string format_metric(double value, std::string_view unit) {
    if (unit == "fraction")
        return format_fraction(value);
    if (unit == "seconds")
        return format_seconds(value);
    if (unit == "bytes")
        return format_bytes(value);
    if (unit == "bytes per second")
        return format_bytes(value) + "/s";
    if (unit == "count" || unit.empty())
        return format_count(value);
    if (unit.starts_with("per second"))
        return format_count(value) + "/s";
    return format_count(value) + " " + std::string(unit);
}

std::string format_evidence(const std::string& key, const Value& value, size_t list_limit) {
    return std::visit(EvidencePhrase{key, list_limit}, value);
}

} // namespace plumb
