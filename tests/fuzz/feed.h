// Takes values off an input. Behind its end all numbers are 0 and all texts are empty.
#pragma once

#include "target.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace plumb::fuzz {

class Feed {
  public:
    explicit Feed(Bytes input) : rest_(input) {}

    bool at_end() const { return rest_.empty(); }
    Bytes rest() const { return rest_; }

    template <class Number> Number number() {
        static_assert(std::is_trivially_copyable_v<Number>);
        Number value{};
        const Bytes taken = bytes(sizeof value);
        if (!taken.empty())
            std::memcpy(&value, taken.data(), taken.size());
        return value;
    }

    Bytes bytes(size_t count) {
        const Bytes taken = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

    // A length of one byte and as many characters.
    std::string_view text() { return as_text(bytes(number<uint8_t>())); }

    // Up to the next byte `end`, which is dropped.
    std::string_view until(char end) {
        const std::string_view all = as_text(rest_);
        const std::string_view taken = all.substr(0, all.find(end));
        rest_ = rest_.subspan(std::min(rest_.size(), taken.size() + 1));
        return taken;
    }

  private:
    Bytes rest_;
};

// The other way: what a Feed takes off again.
class Food {
  public:
    template <class Number> Food& number(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Food& text(std::string_view text) {
        number(static_cast<uint8_t>(text.size()));
        bytes_ += text.substr(0, 255);
        return *this;
    }
    Food& bytes(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    const std::string& taken() const { return bytes_; }
    operator std::string() const { return bytes_; }

  private:
    std::string bytes_;
};

} // namespace plumb::fuzz
