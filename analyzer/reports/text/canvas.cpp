#include "reports/text/canvas.h"
#include "reports/words/utf8.h"

#include <algorithm>
#include <array>

namespace plumb {

namespace {

constexpr size_t kColumnGap = 2;

const char* escape_of(Ink ink) {
    switch (ink) {
    case Ink::plain:
        return "";
    case Ink::strong:
        return "\033[1m";
    case Ink::faint:
        return "\033[2m";
    case Ink::high:
        return "\033[1;31m";
    case Ink::medium:
        return "\033[1;33m";
    case Ink::low:
        return "\033[1;36m";
    case Ink::good:
        return "\033[1;32m";
    }
    return "";
}

// The marks this program writes itself, for readers without UTF-8.
std::string in_ascii(std::string text) {
    static constexpr std::array<std::array<const char*, 2>, 4> marks = {
        {{"·", "-"}, {"…", "..."}, {"→", "->"}, {"×", "x"}}};
    for (const auto& [mark, replacement] : marks)
        for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
            text.replace(at, std::char_traits<char>::length(mark), replacement);
    return ascii_only(text);
}

// The first byte of the last `count` code points of valid UTF-8.
size_t tail_start(const std::string& text, size_t count) {
    size_t at = text.size();
    while (count > 0 && at > 0) {
        at--;
        count -= (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    }
    return at;
}

size_t head_end(const std::string& text, size_t count) {
    size_t at = 0;
    while (at < text.size() && count > 0) {
        at++;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
            at++;
        count--;
    }
    return at;
}

// Widths of all columns; the elastic one gets what the others leave.
std::vector<size_t> fit(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        size_t room) {
    std::vector<size_t> widths(columns.size(), 0);
    for (const std::vector<std::string>& row : rows)
        for (size_t index = 0; index < columns.size(); index++)
            widths[index] = std::max(widths[index], plumb::columns(row[index]));
    size_t used = (columns.size() - 1) * kColumnGap, elastic = columns.size();
    for (size_t index = 0; index < columns.size(); index++) {
        if (columns[index].limit == 0)
            elastic = index;
        else
            used += widths[index] = std::min(widths[index], columns[index].limit);
    }
    if (elastic < columns.size())
        widths[elastic] = std::min(widths[elastic], room > used + 10 ? room - used : 10);
    return widths;
}

} // namespace

void TextCanvas::blank() {
    if (!text_.empty() && !text_.ends_with("\n\n"))
        text_ += '\n';
}

void TextCanvas::heading(const std::string& text) {
    blank();
    text_ += inked(harmless(text), Ink::strong) + '\n';
}

void TextCanvas::paragraph(const std::string& label, size_t indent, const std::vector<Piece>& pieces,
                           Ink label_ink) {
    std::string line = inked(harmless(label), label_ink), stretch; // stretch: words of one piece on one line
    size_t at = plumb::columns(label);
    line.append(indent > at ? indent - at : 0, ' ');
    at = std::max(at, indent);
    bool line_empty = true, space_before = false;
    for (const Piece& piece : pieces) {
        const std::string text = harmless(piece.text);
        for (size_t begin = 0; begin < text.size();) {
            if (text[begin] == ' ') {
                space_before = true;
                begin++;
                continue;
            }
            const size_t end = std::min(text.find(' ', begin), text.size());
            const std::string word = text.substr(begin, end - begin);
            const size_t width = plumb::columns(word);
            if (!line_empty && space_before && at + 1 + width > static_cast<size_t>(style_.width)) {
                text_ += line + inked(stretch, piece.ink) + '\n';
                line.assign(indent, ' ');
                stretch.clear();
                at = indent;
                line_empty = true;
            }
            if (!line_empty && space_before) {
                (stretch.empty() ? line : stretch) += ' ';
                at++;
            }
            stretch += word;
            at += width;
            line_empty = space_before = false;
            begin = end;
        }
        line += inked(stretch, piece.ink);
        stretch.clear();
    }
    text_ += line + '\n';
}

void TextCanvas::verbatim(size_t indent, const std::string& text) {
    for (size_t begin = 0;
         begin < text.size();) { // an argument may hold newlines: they must survive the paste
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = inked(harmless(text.substr(begin, end - begin)), Ink::strong);
        text_ += std::string(begin == 0 ? indent : 0, ' ') + line + '\n';
        begin = end + 1;
    }
}

void TextCanvas::table(size_t indent, const std::vector<Column>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::vector<std::string>> cells = rows;
    for (std::vector<std::string>& row : cells)
        for (std::string& cell : row)
            cell = harmless(cell);
    const std::vector<size_t> widths = fit(columns, cells, static_cast<size_t>(style_.width) - indent);
    for (const std::vector<std::string>& row : cells) {
        std::string line(indent, ' ');
        for (size_t index = 0; index < columns.size(); index++) {
            const std::string cell = cut(row[index], widths[index], columns[index].keep_end);
            const std::string padding(widths[index] - plumb::columns(cell), ' ');
            const bool right = columns[index].align == Column::Align::right;
            line += (right ? padding : "") + inked(cell, columns[index].ink) + (right ? "" : padding);
            line.append(kColumnGap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text_ += line + '\n';
    }
}

std::string TextCanvas::harmless(const std::string& text) const {
    return style_.unicode ? sanitised(text) : in_ascii(sanitised(text));
}

std::string TextCanvas::inked(const std::string& text, Ink ink) const {
    return !style_.colour || ink == Ink::plain || text.empty() ? text : escape_of(ink) + text + "\033[0m";
}

std::string TextCanvas::cut(const std::string& text, size_t width, bool keep_end) const {
    if (plumb::columns(text) <= width)
        return text;
    const std::string mark = style_.unicode ? "…" : "...";
    const size_t mark_width = plumb::columns(mark);
    if (width <= mark_width)
        return text.substr(0, head_end(text, width));
    return keep_end ? mark + text.substr(tail_start(text, width - mark_width))
                    : text.substr(0, head_end(text, width - mark_width)) + mark;
}

} // namespace plumb
