#include "target.h"

#include "html_check.h"
#include "reports/html/writer.h"
#include "reports/text/canvas.h"
#include "reports/words/utf8.h"

namespace plumb::fuzz {

void run_text_gate(Bytes input) {
    const std::string text(as_text(input));
    const std::string clean = sanitised(text), lines = sanitised_lines(text), ascii = ascii_only(text);
    require(is_harmless_text(clean, false) && is_harmless_text(lines, true));
    require(sanitised(clean) == clean && sanitised_lines(lines) == lines); // and is left alone the second time
    require(clean.size() <= 3 * text.size() && columns(clean) <= clean.size());
    for (const char letter : ascii)
        require(letter >= ' ' && letter <= '~');
    HtmlWriter html;
    html.open("p", {{"class", text}}).text(text).element("code", text, {{"id", text}}).close();
    require(why_not_a_page(html.take()).empty());
    TextCanvas canvas({.width = 80, .colour = false, .unicode = text.size() % 2 == 0});
    const size_t half = text.size() / 2;
    canvas.heading(text);
    canvas.paragraph(text.substr(0, half), 8, {{text.substr(half), Ink::plain}, {text, Ink::high}});
    canvas.verbatim(4, text);
    canvas.table(2, {{.limit = 12}, {.limit = 0, .keep_end = true}}, {{text, text.substr(half)}, {"a", text.substr(0, half)}});
    require(is_harmless_text(canvas.take(), true));
}

Seeds seeds_of_text_gate() {
    return {{"escapes", "a\033]0;owned\007b\x9b[31m\xc2\x9b""2J"},
            {"markup", "<img src=x onerror=\"alert('1')\"> &amp; </script><!-- ]]>"},
            {"utf8", "gr\xc3\xb6\xc3\x9f""e \xe2\x82\xac \xf0\x9f\x98\x80 e\xcc\x81 \xe2\x80\xae""abc\xef\xbb\xbf \xe2\x80\xa8"},
            {"broken", "\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82 \xf0\x9f\x98"},
            {"long", std::string(300, 'w') + " " + std::string(30, 'x') + "\n\t\r" + std::string(90, ' ') + "y"}};
}

} // namespace plumb::fuzz
