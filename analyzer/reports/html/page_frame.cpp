#include "reports/html/page_frame.h"

#include "reports/html/page_assets.h"
#include "reports/json/document.h"

#include <fmt/format.h>

namespace plumb {

namespace {

// Nothing may be fetched from anywhere, and no scripts run but those that the build made.
std::string content_policy() {
    const std::string_view scripts = kPageScript.empty() ? "'none'" : kPageScriptHashes;
    return fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src data:; "
                       "base-uri 'none'; form-action 'none'",
                       scripts);
}

} // namespace

void put_html_document_head(HtmlWriter& html, const std::string& title) {
    html.open("head");
    html.trusted("<meta charset=\"utf-8\">\n");
    html.trusted(fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", content_policy()));
    html.trusted("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.element("title", "plumb: " + title).trusted("\n");
    html.trusted("<style>").trusted(kPageStyle).trusted("</style>\n");
    html.close();
}

void put_html_chart(HtmlWriter& html, const char* id, const std::string& caption) {
    html.open("figure").open("div", {{"id", id}, {"class", "chart"}, {"role", "img"}, {"aria-label", caption}}).close();
    html.element("figcaption", caption).close();
}

void put_html_no_charts(HtmlWriter& html) {
    html.element("p",
                 "This build of plumb has no charts: npm was missing or offline when it was built, or charts were switched "
                 "off. The rest of the report is complete.",
                 {{"class", "muted"}});
}

void put_html_noscript(HtmlWriter& html) {
    html.element("noscript", "The charts need scripts; the rest of this page does not.");
}

void put_html_scripts(HtmlWriter& html, const std::function<std::string()>& data) {
    if (kPageScript.empty())
        return;
    html.trusted("<script type=\"application/json\" id=\"plumb-data\">").trusted(data());
    html.trusted("</script>\n<script type=\"text/plain\" id=\"plumb-script\">").trusted(kPageScript);
    html.trusted("</script>\n<script>").trusted(kPageUnpack).trusted("</script>\n");
}

std::string embedded_json(const nlohmann::ordered_json& document) {
    std::string text;
    for (char letter : json_text(document, -1))
        switch (letter) { // only ever inside strings
        case '<':
            text += "\\u003c";
            break;
        case '>':
            text += "\\u003e";
            break;
        case '&':
            text += "\\u0026";
            break;
        default:
            text += letter;
        }
    return text;
}

} // namespace plumb
