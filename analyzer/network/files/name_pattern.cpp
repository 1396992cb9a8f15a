#include "network/files/name_pattern.h"

#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace plumb::network {

namespace {

constexpr size_t kMostWidth = 20;

} // namespace

NamePattern::NamePattern(std::string_view pattern) {
    std::string_view left = pattern.empty() ? "{index}" : pattern;
    while (!left.empty()) {
        const size_t open = left.find('{'), close = open == std::string_view::npos ? open : left.find('}', open);
        Part part{std::string(left.substr(0, open)), {}, 0};
        if (open != std::string_view::npos) {
            if (close == std::string_view::npos)
                throw Error(fmt::format("names \"{}\": a brace is not closed", pattern));
            const std::string_view field = left.substr(open + 1, close - open - 1);
            const size_t colon = field.find(':');
            part.field = field.substr(0, colon);
            if (colon != std::string_view::npos) {
                const auto [end, error] = std::from_chars(field.data() + colon + 1, field.data() + field.size(), part.width);
                if (error != std::errc{} || end != field.data() + field.size() || part.width > kMostWidth)
                    throw Error(fmt::format("names \"{}\": a width of up to {} digits is needed after the colon", pattern, kMostWidth));
            }
        }
        parts_.push_back(std::move(part));
        left = close == std::string_view::npos ? std::string_view{} : left.substr(close + 1);
    }
}

std::string NamePattern::name(const std::vector<Field>& fields) const {
    std::string name;
    for (const Part& part : parts_) {
        name += part.text;
        if (part.field.empty())
            continue;
        const auto found = std::ranges::find(fields, part.field, &Field::name);
        if (found == fields.end())
            throw Error(fmt::format("\"names\" has {{{}}}, which is not known here", part.field));
        name += fmt::format("{:0{}}", found->value, part.width);
    }
    return name;
}

} // namespace plumb::network
