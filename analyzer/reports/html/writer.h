// HTML by construction: elements nest and close, text and attribute values are always escaped.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumb {

// Sanitised (reports/words/utf8.h), with & < > " ' as character references: safe as text and as an attribute's
// value.
std::string html_escaped(std::string_view text);

class HtmlWriter {
  public:
    using Attributes = std::initializer_list<std::pair<const char*, std::string>>;

    HtmlWriter& open(const char* tag, Attributes attributes = {});
    HtmlWriter& close(); // the innermost open element
    HtmlWriter& text(std::string_view text);
    HtmlWriter& element(const char* tag, std::string_view text, Attributes attributes = {});

    // For what the build made (style, script) and JSON made safe by its caller; never for anything recorded.
    HtmlWriter& trusted(std::string_view markup);

    std::string take(); // closes what is open

  private:
    void start(const char* tag, Attributes attributes);

    std::string text_;
    std::vector<const char*> open_;
};

} // namespace plumb
