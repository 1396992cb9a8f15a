#include "reports/html/writer.h"
#include "reports/words/utf8.h"

namespace plumb {

std::string html_escaped(std::string_view text) {
    std::string result;
    for (char letter : sanitised(text))
        switch (letter) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            result += letter;
        }
    return result;
}

HtmlWriter& HtmlWriter::open(const char* tag, Attributes attributes) {
    start(tag, attributes);
    open_.push_back(tag);
    return *this;
}

HtmlWriter& HtmlWriter::close() {
    if (open_.empty())
        return *this;
    text_ += std::string("</") + open_.back() + ">\n";
    open_.pop_back();
    return *this;
}

HtmlWriter& HtmlWriter::text(std::string_view text) {
    text_ += html_escaped(text);
    return *this;
}

HtmlWriter& HtmlWriter::element(const char* tag, std::string_view text, Attributes attributes) {
    start(tag, attributes);
    text_ += html_escaped(text) + "</" + tag + ">";
    return *this;
}

HtmlWriter& HtmlWriter::trusted(std::string_view markup) {
    text_ += markup;
    return *this;
}

std::string HtmlWriter::take() {
    while (!open_.empty())
        close();
    return std::move(text_);
}

void HtmlWriter::start(const char* tag, Attributes attributes) {
    text_ += std::string("<") + tag;
    for (const auto& [name, value] : attributes)
        text_ += std::string(" ") + name + "=\"" + html_escaped(value) + "\"";
    text_ += '>';
}

} // namespace plumb
