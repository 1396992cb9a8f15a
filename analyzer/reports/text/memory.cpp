#include "reports/text/memory.h"

#include "analyses/memory/node_matrix.h"

#include <fmt/format.h>
#include <set>

namespace plumb {

namespace {

using Align = Column::Align;

constexpr size_t kMostNodes = 8; // columns that fit; of larger machines the findings name the nodes that matter

} // namespace

void put_memory(TextCanvas& canvas, const Report& report) {
    const NodeTraffic& traffic = report.memory.traffic;
    if (traffic.samples == 0 || traffic.seconds <= 0)
        return;
    std::set<int> from, to;
    for (const auto& [nodes, flow] : traffic.matrix) {
        from.insert(nodes.first);
        to.insert(nodes.second);
    }
    if (from.size() > kMostNodes || to.size() > kMostNodes)
        return;
    canvas.heading("Memory accesses between nodes, share of their time");
    std::vector<Column> columns{{.limit = 24}};
    std::vector<std::string> heads{"CPUs of"};
    for (const int node : to) {
        columns.push_back({.align = Align::right, .limit = 12});
        heads.push_back(fmt::format("node {}", node));
    }
    std::vector<std::vector<std::string>> rows{heads};
    for (const int node : from) {
        std::vector<std::string> row{fmt::format("node {}", node)};
        for (const int memory : to) {
            const auto flow = traffic.matrix.find({node, memory});
            row.push_back(flow == traffic.matrix.end() ? "-"
                                                       : fmt::format("{:.1f} %", 100 * flow->second.seconds / traffic.seconds));
        }
        rows.push_back(std::move(row));
    }
    canvas.table(2, columns, rows);
}

} // namespace plumb
