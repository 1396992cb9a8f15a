// Lines of text for a terminal: wrapping, columns, colours. Everything that is put on it is made harmless
// first (reports/words/utf8.h), so callers pass names as they were recorded.
#pragma once

#include "reports/text/terminal.h"

#include <string>
#include <vector>

namespace plumb {

enum class Ink { plain, strong, faint, high, medium, low, good };

struct Piece {
    std::string text;
    Ink ink = Ink::plain;
};

struct Column {
    enum class Align { left, right };
    Align align = Align::left;
    size_t limit = 0; // widest it may become; longer cells are cut. 0: takes what is left (one such column)
    bool keep_end = false; // cut cells at their beginning: the end of a path says more
    Ink ink = Ink::plain;
};

class TextCanvas {
  public:
    explicit TextCanvas(TextStyle style) : style_(style) {}

    void blank();
    void heading(const std::string& text);

    // Words flow over as many lines as they need. The first line starts with `label` padded to `indent`,
    // later ones with blanks. Words longer than a line are kept whole: a path or command must stay usable.
    void paragraph(const std::string& label, size_t indent, const std::vector<Piece>& pieces,
                   Ink label_ink = Ink::faint);

    // As it stands, never wrapped or cut: a command to paste. Only newlines of `text` itself break lines.
    void verbatim(size_t indent, const std::string& text);

    void table(size_t indent, const std::vector<Column>& columns,
               const std::vector<std::vector<std::string>>& rows);

    const TextStyle& style() const { return style_; }
    std::string take() { return std::move(text_); }

  private:
    std::string harmless(const std::string& text) const;
    std::string inked(const std::string& text, Ink ink) const;
    std::string cut(const std::string& text, size_t width, bool keep_end) const;

    TextStyle style_;
    std::string text_;
};

} // namespace plumb
