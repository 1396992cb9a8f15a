#include "reports/html/topology.h"

#include "reports/html/page_assets.h"
#include "reports/html/page_frame.h"
#include "reports/html/page_topology.h"
#include "reports/html/simulation_sections.h"
#include "reports/words/topology_words.h"
#include "support/figures.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace plumb {

namespace {

constexpr size_t kMostNodeRows = 512;

std::string topology_title(const network::Study& study) {
    const std::string nodes = node_count_words(study, study.nodes.size());
    return study.plan.job ? fmt::format("{} on {} in their network", counted(study.node_of.size(), "rank", "ranks"), nodes)
                          : fmt::format("{} in their network", nodes);
}

void put_topology_head(HtmlWriter& html, const network::Study& study) {
    html.open("header", {{"class", "run"}}).element("p", "plumb", {{"class", "mark"}});
    html.element("h1", topology_title(study)).open("ul", {{"class", "facts"}});
    html.element("li", study.knows_wiring ? fmt::format("{}, {}", study.network->description(),
                                                        node_count_words(study, study.network->node_count()))
                                          : "network not known");
    if (!study.nodes.empty())
        html.element("li", allocation_words(study));
    if (study.has_traffic())
        html.element("li", messages_words(study));
    html.close();
    html.element("p", study.has_traffic() ? order_words(study) : "No messages from rank to rank are known: only the nodes are looked at.",
                 {{"class", study.has_traffic() && study.order_is_better() ? "verdict" : "verdict clean"}, {"id", "verdict"}});
    html.close();
}

void put_picture(HtmlWriter& html, const network::Study& study) {
    if (!study.knows_wiring)
        return;
    html.open("section", {{"id", "network"}}).element("h2", "The network");
    if (!has_network_picture(study))
        html.element("p", "The network has too many routers, switches or links in use for a picture.");
    else
        put_html_chart(html, "chart-topology-network",
                       "Dots are routers or switches: filled where the job has all of their nodes, pale where it has some. Each half of a line is "
                       "one direction of a link, from the dot where it begins. Short strokes lead to another plane, or around to the other end.");
    html.close();
}

void put_link_table(HtmlWriter& html, const char* title, const std::vector<network::NamedLink>& links) {
    if (links.empty())
        return;
    html.element("h3", title);
    begin_html_table(html, "from, to", {"carries", "most of it"}, false);
    for (const network::NamedLink& each : links)
        put_html_row(html, link_name(each.link), {format_bytes(each.bytes), each.pairs.empty() ? "" : pair_words(each.pairs.front())}, false);
    html.close().close();
}

void put_links(HtmlWriter& html, const network::Study& study) {
    if (!study.knows_wiring || study.heaviest.empty())
        return;
    html.open("section", {{"id", "links"}}).element("h2", "Busiest links");
    put_link_table(html, "Now", study.heaviest);
    put_link_table(html, "In the better order", study.heaviest_after);
    html.close();
}

void put_matrices(HtmlWriter& html, const network::Study& study) {
    if (!study.has_traffic())
        return;
    html.open("section", {{"id", "messages"}}).element("h2", "Who sends to whom");
    put_html_chart(html, "chart-topology-by-rank", "By rank.");
    if (study.order_is_better())
        put_html_chart(html, "chart-topology-by-node", "By place in the better order: ranks of one node beside one another.");
    html.close();
}

void put_ranks_by_node(HtmlWriter& html, const network::Study& study) {
    if (study.node_of.empty())
        return;
    const bool is_better = study.has_traffic() && study.order_is_better();
    std::map<network::NodeIndex, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> ranks;
    for (uint32_t rank = 0; rank < study.node_of.size(); ++rank) {
        ranks[study.node_of[rank]].first.push_back(rank);
        if (is_better)
            ranks[study.order.node_of[rank]].second.push_back(rank);
    }
    html.open("section", {{"id", "ranks"}}).element("h2", "Ranks by node");
    begin_html_table(html, "node", is_better ? std::vector<std::string>{"ranks now", "in the better order"} : std::vector<std::string>{"ranks"}, false);
    size_t rows = 0;
    for (const auto& [node, lists] : ranks) {
        if (rows++ == kMostNodeRows)
            break;
        std::vector<std::string> cells{rank_ranges(lists.first)};
        if (is_better)
            cells.push_back(rank_ranges(lists.second));
        put_html_row(html, study.network->node_name(node), cells, false);
    }
    html.close().close();
    if (ranks.size() > kMostNodeRows)
        html.element("p", fmt::format("and {} (--format json has all)", counted(ranks.size() - kMostNodeRows, "more node", "more nodes")));
    html.close();
}

void put_notes(HtmlWriter& html, const network::Study& study) {
    const std::vector<std::string> notes = topology_notes(study);
    if (notes.empty())
        return;
    html.open("section", {{"id", "notes"}}).element("h2", "What these figures leave out").open("ul");
    for (const std::string& note : notes)
        html.element("li", note);
    html.close().close();
}

} // namespace

std::string topology_html(const network::Study& study) {
    HtmlWriter html;
    html.trusted("<!doctype html>\n").open("html", {{"lang", "en"}});
    put_html_document_head(html, topology_title(study));
    html.open("body").open("main");
    put_topology_head(html, study);
    kPageScript.empty() ? put_html_no_charts(html) : put_html_noscript(html);
    put_picture(html, study);
    put_links(html, study);
    put_matrices(html, study);
    put_ranks_by_node(html, study);
    put_notes(html, study);
    html.open("footer").text("Computed by plumb topo from the recorded messages and the description of the network; nothing was measured.").close();
    html.close();
    put_html_scripts(html, [&] { return embedded_json({{"topology", topology_chart_data(study)}}); });
    return html.take();
}

} // namespace plumb
