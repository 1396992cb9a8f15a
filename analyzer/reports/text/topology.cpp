#include "reports/text/topology.h"

#include "reports/text/canvas.h"
#include "reports/words/topology_words.h"
#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

namespace {

using Align = Column::Align;

constexpr size_t kTopologyIndent = 10;

void put_links(TextCanvas& canvas, const network::Study& study) {
    if (!study.knows_wiring || study.heaviest.empty())
        return;
    canvas.heading("Busiest links");
    std::vector<std::vector<std::string>> rows{{"from, to", "carries", "of the mean", "most of it"}};
    for (const network::NamedLink& each : study.heaviest)
        rows.push_back({link_name(each.link), format_bytes(each.bytes),
                        study.mean_link_bytes > 0 ? three_digits(each.bytes / study.mean_link_bytes) + " x" : "-",
                        each.pairs.empty() ? "" : pair_words(each.pairs.front())});
    canvas.table(2, {{.align = Align::left, .limit = 48}, {.align = Align::right, .limit = 12}, {.align = Align::right, .limit = 12},
                     {.align = Align::left, .limit = 40}}, rows);
    if (const double rate = study.plan.topology.link_bytes_per_s; rate > 0) {
        const network::NamedLink& first = study.heaviest.front();
        canvas.paragraph("", 2, {{fmt::format("At {} a second and cable the busiest of them is at work for at least {}.", format_bytes(rate),
                                              format_seconds(first.bytes / first.link.cables / rate))}});
    }
    if (const double hop_s = study.plan.topology.hop_s; hop_s > 0)
        canvas.paragraph("", 2, {{fmt::format("At {} a link a message is on its way for {} on average{}.", format_seconds(hop_s),
                                              format_seconds(hop_s * study.order.before.mean_hops()),
                                              study.order_is_better()
                                                  ? fmt::format(", in the better order {}", format_seconds(hop_s * study.order.after.mean_hops()))
                                                  : "")}});
    if (study.shared > 0 && !study.is_inside())
        canvas.paragraph("", 2, {{fmt::format("{} of what links carry goes through places without a node of this job: there other jobs can "
                                              "disturb this one, and it can disturb others.", format_fraction(study.shared))}});
}

} // namespace

std::string topology_text(const network::Study& study, const TextStyle& style, const std::string& order_usage) {
    TextCanvas canvas(style);
    const std::string words = !study.knows_wiring ? "not known"
                                : study.is_inside() ? study.network->description()
                                                    : fmt::format("{}, {}", study.network->description(),
                                                                  node_count_words(study, study.network->node_count()));
    canvas.paragraph("network", kTopologyIndent, {{words}});
    if (!study.nodes.empty())
        canvas.paragraph("job", kTopologyIndent, {{(study.plan.job ? counted(study.node_of.size(), "rank", "ranks") + " on " : "") +
                                           allocation_words(study)}});
    if (study.has_traffic())
        canvas.paragraph("messages", kTopologyIndent, {{messages_words(study)}});
    else if (study.plan.job)
        canvas.paragraph("messages", kTopologyIndent, {{"no messages from rank to rank were recorded"}});
    put_links(canvas, study);
    if (study.has_traffic()) {
        canvas.heading("A better order");
        canvas.paragraph("", 2, {{order_words(study)}});
        if (!order_usage.empty())
            canvas.verbatim(2, order_usage);
        else if (study.order_is_better())
            canvas.paragraph("", 2, {{fmt::format("--reorder rankfile{} writes it for the launcher.",
                                                  study.is_inside() ? "" : ", mpich-rank-order, hostfile or slurm")}});
    }
    for (const std::string& note : topology_notes(study))
        canvas.paragraph("note", kTopologyIndent, {{note, Ink::faint}});
    return canvas.take();
}

} // namespace plumb
