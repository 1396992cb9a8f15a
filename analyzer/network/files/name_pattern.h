// Names made of numbers: "c{x}-{y}n{z:02}".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::network {

class NamePattern {
  public:
    struct Field {
        std::string name;
        uint64_t value = 0;
    };

    // Throws Error where a brace is not closed or a width is no number. An empty pattern is "{index}".
    explicit NamePattern(std::string_view pattern);

    // Throws Error where the pattern has a field that is not given.
    std::string name(const std::vector<Field>& fields) const;

  private:
    struct Part {
        std::string text, field; // of the pattern, before the field
        size_t width = 0;        // filled up with 0s
    };
    std::vector<Part> parts_;
};

} // namespace plumb::network
