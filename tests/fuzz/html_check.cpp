#include "html_check.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace plumb::fuzz {

namespace {

const std::set<std::string_view> kElements = {
    "article", "body",  "code", "details", "div",  "figcaption", "figure", "footer",  "h1",    "h2",    "h3",    "head", "header",
    "html",    "i",     "li",    "main", "meta",    "noscript", "ol",     "p",      "pre",     "script", "section", "span", "strong",
    "style",   "summary", "table", "tbody", "td",  "th",         "thead",  "title",   "tr",    "ul"};
const std::set<std::string_view> kAttributes = {"aria-hidden", "aria-label", "charset", "class", "colspan", "content", "data-id", "http-equiv",
                                                "id", "lang", "name", "role", "scope", "tabindex", "title", "type"};
const std::string_view kReferences[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

bool is_name(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-'; }

// The only styles that are written for one element: "width:12.5%" and "flex-grow:0.125".
bool is_width(std::string_view value) {
    constexpr std::string_view kWidth = "width:", kGrow = "flex-grow:", kNumber = "0123456789.";
    if (value.starts_with(kGrow))
        return value.size() > kGrow.size() && value.find_first_not_of(kNumber, kGrow.size()) == value.npos;
    return value.starts_with(kWidth) && value.ends_with("%") && value.find_first_not_of(kNumber, kWidth.size()) == value.size() - 1;
}

class Page {
  public:
    explicit Page(std::string_view text) : text_(text) {}

    std::string check() {
        skip("<!doctype html>");
        while (problem_.empty() && at_ < text_.size())
            if (text_[at_] == '<')
                tag();
            else
                character("<>\"'");
        if (problem_.empty() && !open_.empty())
            fail("an element without end");
        return problem_;
    }

  private:
    void fail(const std::string& what) {
        if (problem_.empty())
            problem_ = what + " at " + std::to_string(at_) + ": " + std::string(text_.substr(at_, 60));
    }
    bool skip(std::string_view what) {
        const bool is_there = text_.substr(at_).starts_with(what);
        at_ += is_there ? what.size() : 0;
        return is_there;
    }
    std::string_view name() {
        const size_t begin = at_;
        while (at_ < text_.size() && is_name(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }
    // One character of text or of a value, none of `forbidden`.
    void character(std::string_view forbidden) {
        if (forbidden.find(text_[at_]) != forbidden.npos)
            return fail("an unescaped character");
        if (text_[at_] != '&') {
            ++at_;
            return;
        }
        if (std::none_of(std::begin(kReferences), std::end(kReferences), [&](std::string_view each) { return skip(each); }))
            fail("an unescaped &");
    }
    void tag() {
        ++at_;
        if (skip("/")) {
            const std::string_view closed = name();
            if (open_.empty() || open_.back() != closed || !skip(">"))
                return fail("the end of what is not open");
            open_.pop_back();
            return;
        }
        const std::string_view element = name();
        if (!kElements.contains(element))
            return fail("a foreign element");
        while (problem_.empty() && skip(" "))
            attribute();
        if (!skip(">"))
            return fail("a tag without end");
        if (element == "style" || element == "script")
            return raw(element);
        if (element != "meta")
            open_.push_back(element);
    }
    void attribute() {
        const std::string_view attribute = name();
        if ((attribute != "style" && !kAttributes.contains(attribute)) || !skip("=\""))
            return fail("a foreign attribute");
        const size_t value = at_;
        while (problem_.empty() && at_ < text_.size() && text_[at_] != '"')
            // the policy of the page holds apostrophes; values in double quotes may
            character("<>");
        if (attribute == "style" && !is_width(text_.substr(value, at_ - value)))
            fail("a foreign style");
        if (!skip("\""))
            fail("a value without end");
    }
    // What the build made, and the numbers of the charts, which hold no '<' at all.
    void raw(std::string_view element) {
        const size_t end = text_.find("</" + std::string(element) + ">", at_);
        if (end == text_.npos)
            return fail("raw text without end");
        const std::string_view content = text_.substr(at_, end - at_);
        if (content.starts_with("{") && content.find_first_of("<>&") != content.npos)
            return fail("markup in the numbers");
        at_ = end + element.size() + 3;
    }

    std::string_view text_;
    size_t at_ = 0;
    std::vector<std::string_view> open_;
    std::string problem_;
};

bool is_forbidden(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || (code >= 0xd800 && code < 0xe000) ||
           code > 0x10ffff;
}

} // namespace

bool is_harmless_text(std::string_view text, bool lines) {
    for (size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
        if (length == 0 || first > 0xf4 || at + length > text.size())
            return false;
        uint32_t code = length == 1 ? first : first & (0xff >> (length + 1));
        for (size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xc0) != 0x80)
                return false;
            code = code << 6 | (next & 0x3f);
        }
        constexpr uint32_t kFirst[] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < kFirst[length] || (is_forbidden(code) && !(lines && code == '\n')))
            return false;
        at += length;
    }
    return true;
}

std::string why_not_a_page(std::string_view page) { return Page(page).check(); }

} // namespace plumb::fuzz
