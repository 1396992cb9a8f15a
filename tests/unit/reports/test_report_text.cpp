// What the text report is made of: numbers with units, harmless names, wrapping, the terminal's abilities.
#include "reports/words/line_texts.h"
#include "reports/words/quantity.h"
#include "reports/text/canvas.h"
#include "reports/words/utf8.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <sstream>

using namespace plumb;

TEST_CASE("seconds have three digits and the unit that fits") {
    CHECK(format_seconds(0) == "0 s");
    CHECK(format_seconds(12.345) == "12.3 s");
    CHECK(format_seconds(0.0821) == "82.1 ms");
    CHECK(format_seconds(0.99996) == "1.00 s");
    CHECK(format_seconds(3.4e-6) == "3.40 us");
    CHECK(format_seconds(25e-9) == "25.0 ns");
    CHECK(format_seconds(725) == "12 min 05 s");
    CHECK(format_seconds(7265) == "2 h 01 min");
    CHECK(format_seconds(3599.6) == "1 h 00 min");
    CHECK(format_seconds(NAN) == "?");
}

TEST_CASE("bytes, fractions and counts") {
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_bytes(999) == "999 B");
    CHECK(format_bytes(1536) == "1.50 KiB");
    CHECK(format_bytes(3.0 * (1 << 30)) == "3.00 GiB");
    CHECK(format_fraction(0) == "0 %");
    CHECK(format_fraction(0.0001) == "<0.1 %");
    CHECK(format_fraction(0.0321) == "3.2 %");
    CHECK(format_fraction(0.483) == "48 %");
    CHECK(format_count(1234) == "1,234");
    CHECK(format_count(-1234567) == "-1.23 M");
    CHECK(format_count(0.5) == "0.50");
}

namespace {

Finding with_gain(Gain gain) {
    Finding finding;
    finding.gain = std::move(gain);
    return finding;
}

} // namespace

TEST_CASE("a bound is said to be one, an estimate is not") {
    CHECK(gain_text({0.48, "estimated"}) == "about 48 %");
    CHECK(gain_text({0.48, "estimated", 0.48}) == "about 48 %");
    CHECK(gain_text({0.48, "estimated", 0.2}) == "about 48 %"); // what is certain is less; the truth may be more
    CHECK(whole_gain_text(with_gain({0.48, "estimated"})) == "about 48 % of the run");
    CHECK(whole_gain_text(with_gain({0.48, "estimated", 0.2})) == "about 48 % of the run, at least 20 %");
    CHECK(whole_gain_text(with_gain({0.48, "without waiting", 0.0, true})) == "up to 48 % of the run, perhaps nothing");
    Finding of_program = with_gain({0.48, "estimated"});
    of_program.whole = "the time of solver";
    CHECK(whole_gain_text(of_program) == "about 48 % of the time of solver");
    CHECK(gain_text({0.48, "without waiting", std::nullopt, true}) == "up to 48 %");
    CHECK(gain_text({0, "none", std::nullopt, true}).empty());
}

TEST_CASE("a place that the title names is not named again") {
    Finding finding;
    Location place;
    place.file = "/src/app.c";
    place.function = "f";
    place.module = "app";
    place.line = 13;
    finding.where = {place};
    finding.title = "46 % of the CPU time is spent in page faults, mainly at /src/app.c:13";
    CHECK(place_beside_title(finding).empty());
    finding.title = "A thread waits";
    CHECK(place_beside_title(finding) == "/src/app.c:13 in f");
}

TEST_CASE("evidence takes its unit from the key") {
    CHECK(format_evidence("run_delay_seconds", 5.9) == "run delay 5.90 s");
    CHECK(format_evidence("remote_fraction", 0.25) == "remote 25 %");
    CHECK(format_evidence("lock_wait_ns", int64_t{2500}) == "lock wait 2.50 us");
    CHECK(format_evidence("crossings_line_count", int64_t{12}) == "crossings line count 12");
    CHECK(format_evidence("idle_cpus", std::vector<int64_t>{1, 2, 3}, 2) == "idle cpus 1, 2 and 1 more");
    CHECK(format_evidence("exact", true) == "exact: yes");
    CHECK(format_evidence("seconds", 2.0) == "seconds 2"); // nothing but a unit is a name
}

TEST_CASE("CPU lists as the kernel writes them") {
    CHECK(format_cpu_list({}) == "");
    CHECK(format_cpu_list({0, 1, 2, 3, 8}) == "0-3,8");
    CHECK(format_cpu_list({0, 1, 5}) == "0,1,5");
}

TEST_CASE("names become valid UTF-8 without control characters") {
    CHECK(sanitised("plain Grün") == "plain Grün");
    CHECK(sanitised("a\xe2\x80\x8f" "b\xd8\x9c" "c\x9b" "d\x7f") == "a b c\xef\xbf\xbd" "d "); // marks of direction, raw CSI
    CHECK(sanitised("a\033[31mb\n") == "a [31mb ");
    CHECK(sanitised("\xff\xc0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(sanitised("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); // a surrogate
    CHECK(sanitised("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd");                 // cut short
    CHECK(sanitised("x\xe2\x80\xaey") == "x y");                                // right-to-left override
    CHECK(ascii_only("Grün") == "Gr?n");
    CHECK(columns("Grün\033[1mx\033[0m") == 5);
}

namespace {

size_t widest(const std::string& text) {
    std::istringstream lines(text);
    size_t width = 0;
    for (std::string line; std::getline(lines, line);)
        width = std::max(width, columns(line));
    return width;
}

} // namespace

TEST_CASE("paragraphs wrap at the width and keep long words whole") {
    TextCanvas canvas({40, false, true});
    canvas.paragraph("label", 8, {{"one two three four five six seven eight nine ten eleven twelve"}});
    const std::string text = canvas.take();
    CHECK(widest(text) <= 40);
    CHECK(text.starts_with("label   one two"));
    CHECK(text.find("\n        ") != std::string::npos);
    TextCanvas narrow({20, false, true});
    narrow.paragraph("", 2, {{"see /a/very/long/path/that/does/not/fit.c:12"}});
    CHECK(narrow.take() == "  see\n  /a/very/long/path/that/does/not/fit.c:12\n");
}

TEST_CASE("tables cut what does not fit, at the end or at the beginning") {
    const std::vector<Column> columns = {{.limit = 6}, {.keep_end = true}};
    TextCanvas canvas({30, false, true});
    canvas.table(0, columns, {{"abcdefgh", "/home/user/some/long/folder/file.c:12"}, {"x", "y"}});
    CHECK(canvas.take() == "abcde…  …long/folder/file.c:12\nx       y\n");
    TextCanvas ascii({30, false, false});
    ascii.table(0, columns, {{"Grün", "ok"}});
    CHECK(ascii.take() == "Gr?n  ok\n");
}

TEST_CASE("colours only where the terminal has them") {
    TextCanvas plain({80, false, true}), coloured({80, true, true});
    plain.paragraph("", 0, {{"text", Ink::high}});
    coloured.paragraph("", 0, {{"text", Ink::high}});
    CHECK(plain.take() == "text\n");
    CHECK(coloured.take() == "\033[1;31mtext\033[0m\n");
}

TEST_CASE("the style follows the environment") {
    std::map<std::string, const char*> variables = {{"LANG", "de_DE.UTF-8"}, {"COLUMNS", "200"}};
    const auto look_up = [&](const char* name) {
        return variables.contains(name) ? variables[name] : nullptr;
    };
    std::FILE* file = std::tmpfile();
    TextStyle style = detect_style(file, look_up);
    CHECK(style.width == 120);
    CHECK(style.unicode);
    CHECK_FALSE(style.colour); // a file is no terminal
    variables["LC_ALL"] = "C";
    variables["COLUMNS"] = "40";
    style = detect_style(file, look_up);
    CHECK_FALSE(style.unicode);
    CHECK(style.width == 80);
    variables["CLICOLOR_FORCE"] = "1";
    CHECK(detect_style(file, look_up).colour);
    std::fclose(file);
}

TEST_CASE("a terminal has colours, one that Open MPI made for a rank has none") {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0)
        return; // none to be had here
    std::FILE* stream = fdopen(terminal, "w");
    std::map<std::string, const char*> variables = {{"TERM", "xterm"}};
    const auto look_up = [&](const char* name) { return variables.contains(name) ? variables[name] : nullptr; };
    CHECK(detect_style(stream, look_up).colour);
    variables["OMPI_COMM_WORLD_RANK"] = "0";
    CHECK_FALSE(detect_style(stream, look_up).colour);
    variables["CLICOLOR_FORCE"] = "0";
    CHECK_FALSE(detect_style(stream, look_up).colour);
    variables["CLICOLOR_FORCE"] = "1";
    CHECK(detect_style(stream, look_up).colour);
    std::fclose(stream);
}

TEST_CASE("long paths lose their first folders, never the file") {
    const model::SourceFrame frame{"solve", "/very/long/path/to/src/solver.c", 42, "app", false};
    CHECK(short_frame_text(frame, 80) == "/very/long/path/to/src/solver.c:42 in solve");
    CHECK(short_frame_text(frame, 28) == "…/src/solver.c:42 in solve");
    CHECK(short_frame_text(frame, 5) == "…/solver.c:42 in solve");
}

TEST_CASE("headlines are cut between letters") {
    CHECK(headline_of({"./app", "-n", "4"}, 100) == "./app -n 4");
    CHECK(headline_of({"Größe"}, 4) == "'Grö…");
}

TEST_CASE("commands keep the newlines of their arguments") {
    TextCanvas canvas({80, false, true});
    canvas.verbatim(4, "python3 -c 'a = 1\nprint(a)\033'");
    CHECK(canvas.take() == "    python3 -c 'a = 1\nprint(a) '\n");
}
