// Texts of bounded length, put together without the C library's formatted printing (which may allocate, depends on
// the locale and is not signal-safe). What does not fit is cut.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace plumb::shim {

template <size_t Capacity> class Text {
  public:
    Text& operator<<(const char* text) { return append(text, strlen(text)); }
    Text& operator<<(uint64_t number) {
        char digits[20];
        size_t count = 0;
        do {
            digits[sizeof digits - ++count] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number > 0);
        return append(digits + sizeof digits - count, count);
    }
    Text& append(const char* text, size_t length) {
        const size_t room = Capacity - 1 - length_;
        if (length > room) {
            length = room;
            cut_ = true;
        }
        memcpy(text_ + length_, text, length);
        length_ += length;
        text_[length_] = '\0';
        return *this;
    }
    void clear() {
        length_ = 0;
        text_[0] = '\0';
        cut_ = false;
    }
    const char* c_str() const { return text_; }
    size_t length() const { return length_; }
    bool cut() const { return cut_; }

  private:
    char text_[Capacity] = {};
    size_t length_ = 0;
    bool cut_ = false;
};

// A decimal number at the start of `text`, `fallback` where there is none or it does not fit.
inline uint64_t parse_number(const char* text, uint64_t fallback) {
    if (!text || *text < '0' || *text > '9')
        return fallback;
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; ++text)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, static_cast<uint64_t>(*text - '0'), &number))
            return fallback;
    return number;
}

// The part of a path behind the last slash.
inline const char* base_name(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

} // namespace plumb::shim
