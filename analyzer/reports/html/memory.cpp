// Machines of several NUMA nodes: who reached for whose memory, which objects that was about, what filled the nodes.
#include "reports/html/sections.h"
#include "reports/html/page_assets.h"
#include "reports/html/page_memory.h"
#include "reports/words/quantity.h"

#include <fmt/format.h>
#include <set>

namespace plumb {

namespace {

constexpr size_t kMostTableNodes = 16, kShownObjects = 24, kMostNamedNodes = 3;

void put_matrix(HtmlWriter& html, const NodeTraffic& traffic) {
    std::set<int> from, to;
    for (const auto& [nodes, flow] : traffic.matrix) {
        from.insert(nodes.first);
        to.insert(nodes.second);
    }
    if (from.size() > kMostTableNodes || to.size() > kMostTableNodes) {
        html.element("p", "There are too many NUMA nodes for a table.", {{"class", "muted"}});
        return;
    }
    html.open("table").open("thead").open("tr").element("th", "From CPUs of", {{"scope", "col"}});
    for (const int node : to)
        html.element("th", fmt::format("to node {}", node), {{"scope", "col"}, {"class", "number"}});
    html.close().close().open("tbody");
    for (const int node : from) {
        html.open("tr").element("th", fmt::format("node {}", node), {{"scope", "row"}});
        for (const int memory : to) {
            const auto flow = traffic.matrix.find({node, memory});
            html.element("td", flow == traffic.matrix.end() ? "" : format_fraction(flow->second.seconds / traffic.seconds),
                         {{"class", "number"}});
        }
        html.close();
    }
    html.close().close();
}

std::string node_words(const NodeShares& shares) {
    std::string text;
    for (size_t i = 0; i < shares.size() && i < kMostNamedNodes; ++i)
        text += fmt::format("{}node {}{}", text.empty() ? "" : ", ", shares[i].first,
                            shares.size() == 1 ? "" : " " + format_fraction(shares[i].second));
    if (shares.size() > kMostNamedNodes)
        text += fmt::format(" and {} more", shares.size() - kMostNamedNodes);
    return text;
}

void put_objects(HtmlWriter& html, const std::vector<MemoryObjectRow>& objects, size_t begin, size_t end) {
    html.open("table").open("thead").open("tr");
    for (const char* head : {"From other nodes", "All time", "Size"})
        html.element("th", head, {{"scope", "col"}, {"class", "number"}});
    for (const char* head : {"Object", "Lies on", "Used from", "Your line"})
        html.element("th", head, {{"scope", "col"}});
    html.close().close().open("tbody");
    for (size_t index = begin; index < end; ++index) {
        const MemoryObjectRow& row = objects[index];
        html.open("tr");
        html.element("td", row.remote_s > 0 ? format_seconds(row.remote_s) : "", {{"class", "number"}});
        html.element("td", format_seconds(row.seconds), {{"class", "number"}});
        html.element("td", row.bytes > 0 ? format_bytes(static_cast<double>(row.bytes)) : "", {{"class", "number"}});
        html.open("td").element("code", row.name);
        if (row.processes > 1)
            html.element("div", fmt::format("in {} processes", row.processes), {{"class", "muted"}});
        html.close().element("td", node_words(row.held_by)).element("td", node_words(row.used_from));
        html.open("td").element("code", row.place).close().close();
    }
    html.close().close();
}

void put_all_objects(HtmlWriter& html, const MemorySummary& memory) {
    const size_t shown = std::min(memory.objects.size(), kShownObjects);
    put_objects(html, memory.objects, 0, shown);
    if (shown < memory.objects.size()) {
        html.open("details").element("summary", fmt::format("{} more objects", memory.objects.size() - shown));
        put_objects(html, memory.objects, shown, memory.objects.size());
        html.close();
    }
    if (memory.objects_left_out > 0)
        html.element("p", fmt::format("{} objects with less are left out.", memory.objects_left_out), {{"class", "muted"}});
}

} // namespace

void put_html_memory(HtmlWriter& html, const Report& report) {
    const MemorySummary& memory = report.memory;
    const bool has_traffic = memory.traffic.samples > 0 && memory.traffic.seconds > 0;
    if (!memory.recorded || (!has_traffic && memory.nodes.empty()))
        return;
    html.open("section", {{"id", "memory"}}).element("h2", "NUMA nodes");
    if (has_traffic) {
        html.element("p", fmt::format("{} of the time of {} sampled memory accesses went to the memory of another node{}.",
                                      format_fraction(memory.traffic.remote_fraction()),
                                      format_count(static_cast<double>(memory.traffic.samples)),
                                      memory.traffic.unknown_samples > 0
                                          ? fmt::format("; for {} more the node is not known",
                                                        format_count(static_cast<double>(memory.traffic.unknown_samples)))
                                          : ""));
        if (!kPageScript.empty())
            put_html_chart(html, "chart-memory-matrix", "Time of memory accesses by the node of the CPU and the node of the memory.");
        put_matrix(html, memory.traffic);
    }
    if (!memory.objects.empty()) {
        html.element("h3", "Objects used across nodes");
        if (!kPageScript.empty())
            put_html_chart(html, "chart-memory-objects",
                      "Each object from its first byte to its last. Upper strip: the node that holds this part. Lower strip: "
                      "the node whose threads use it. Where the two differ, accesses are remote. With several processes, the "
                      "one with the most remote time is shown.");
        put_all_objects(html, memory);
    }
    if (!memory.nodes.empty() && !kPageScript.empty()) {
        html.element("h3", "What filled the nodes");
        put_html_chart(html, "chart-memory-nodes",
                  charted_nodes(memory) < memory.nodes.size()
                      ? fmt::format("Memory of {} of {} nodes over time.", charted_nodes(memory), memory.nodes.size())
                      : "Memory of each node over time. The kernel frees cached files last for allocations of their own node.");
    }
    html.close();
}

} // namespace plumb
