#include "reports/words/utf8.h"

#include <cstdint>

namespace plumb {

namespace {

constexpr uint32_t kInvalid = 0xffffffff;

// Decodes one code point at `at` and moves past it; kInvalid moves past one byte.
uint32_t next_code_point(std::string_view text, size_t& at) {
    const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
    const uint8_t lead = byte(at);
    const size_t extra = lead < 0x80                   ? 0
                         : lead >= 0xc2 && lead < 0xe0 ? 1
                         : lead >= 0xe0 && lead < 0xf0 ? 2
                         : lead >= 0xf0 && lead < 0xf5 ? 3
                                                       : 4;
    if (extra == 4 || at + extra >= text.size()) {
        at++;
        return kInvalid;
    }
    uint32_t code = extra == 0 ? lead : lead & (0x3f >> extra);
    for (size_t index = 1; index <= extra; index++) {
        if ((byte(at + index) & 0xc0) != 0x80) {
            at++;
            return kInvalid;
        }
        code = code << 6 | (byte(at + index) & 0x3f);
    }
    const bool overlong = (extra == 2 && code < 0x800) || (extra == 3 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        at++;
        return kInvalid;
    }
    at += extra + 1;
    return code;
}

bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
           code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x206f) || code == 0xfeff;
}

bool is_combining(uint32_t code) {
    return (code >= 0x300 && code < 0x370) || code == 0x200b || code == 0x200d ||
           (code >= 0xfe00 && code <= 0xfe0f);
}

} // namespace

std::string sanitised(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        const uint32_t code = next_code_point(text, at);
        if (code == kInvalid)
            result += "\xef\xbf\xbd";
        else if (is_control(code))
            result += ' ';
        else
            result += text.substr(begin, at - begin);
    }
    return result;
}

std::string sanitised_lines(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        result += sanitised(text.substr(0, end));
        if (end == text.npos)
            break;
        result += '\n';
        text.remove_prefix(end + 1);
    }
    return result;
}

std::string ascii_only(std::string_view text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const uint32_t code = next_code_point(text, at);
        result += code < 0x7f && !is_control(code) ? static_cast<char>(code) : is_control(code) ? ' ' : '?';
    }
    return result;
}

size_t columns(std::string_view text) {
    size_t count = 0;
    for (size_t at = 0; at < text.size();) {
        if (text[at] == '\033') { // up to the final letter of the sequence
            while (at < text.size() && !(text[at] >= 'a' && text[at] <= 'z'))
                at++;
            at++;
            continue;
        }
        count += !is_combining(next_code_point(text, at));
    }
    return count;
}

} // namespace plumb
