#include "reports/words/topology_words.h"

#include "support/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb {

using network::RankOrder;

namespace {

// What a message leaves, or not.
const char* node_word(const network::Study& study) { return study.is_inside() ? "last-level cache" : "node"; }

} // namespace

std::string node_count_words(const network::Study& study, size_t nodes) {
    return study.is_inside() ? counted(nodes, "last-level cache", "last-level caches") : counted(nodes, "node", "nodes");
}

std::string allocation_words(const network::Study& study) {
    const network::Allocation& own = study.allocation;
    std::string words = node_count_words(study, own.nodes);
    if (study.is_inside())
        return words;
    if (!study.knows_wiring || own.nodes < 2)
        return words;
    words += own.pieces == 1 ? ", all connected" : fmt::format(" in {} that other nodes lie between", counted(own.pieces, "piece", "pieces"));
    if (own.box)
        words += fmt::format("; the smallest box around them is {} and has {}", fmt::join(own.box->sizes, " x "),
                             counted(own.box->nodes, "node", "nodes"));
    words += fmt::format("; two of them are {} links apart on average", three_digits(own.mean_hops));
    if (own.compact_mean_hops < own.mean_hops)
        words += fmt::format(", {} if as many lay together on a free machine", three_digits(own.compact_mean_hops));
    return words;
}

std::string messages_words(const network::Study& study) {
    const network::HopBytes& load = study.order.before;
    std::string words = fmt::format("{} in {}; {}", format_bytes(load.bytes), counted(static_cast<uint64_t>(load.messages), "message", "messages"),
                                    network::shape_words(study.shape, study.plan.job->traffic.ranks));
    words += fmt::format("; {} of the bytes leave the {}", format_fraction(load.bytes > 0 ? load.leaving_bytes / load.bytes : 0),
                         node_word(study));
    if (study.knows_wiring)
        words += fmt::format(", a byte passes {} links on average, {} at most", three_digits(load.mean_hops_of_bytes()), load.most_hops);
    return words;
}

std::string order_words(const network::Study& study) {
    if (!study.order_is_better())
        return study.order.before.hop_bytes > 0 ? "none was found that takes the bytes over fewer links than the one the job has"
                                                : fmt::format("no message leaves a {}: no order is better", node_word(study));
    const network::HopBytes &before = study.order.before, &after = study.order.after;
    const std::string leaving = format_fraction(before.leaving_bytes / before.bytes), leaving_then = format_fraction(after.leaving_bytes / after.bytes);
    std::string words;
    if (leaving_then != leaving)
        words = fmt::format("{} of the bytes leave the {} instead of {}", leaving_then, node_word(study), leaving);
    if (study.knows_wiring && !study.heaviest.empty() && !study.heaviest_after.empty())
        words += fmt::format("{}a byte passes {} links instead of {}, and the busiest link carries {} instead of {}", words.empty() ? "" : ", ",
                             three_digits(after.mean_hops_of_bytes()), three_digits(before.mean_hops_of_bytes()),
                             format_bytes(study.heaviest_after.front().bytes), format_bytes(study.heaviest.front().bytes));
    return words.empty() ? fmt::format("{} of the bytes leave the {}, a little less than now", leaving_then, node_word(study)) : words;
}

std::string link_name(const network::Link& link) {
    return fmt::format("{} to {}{}", link.from, link.to, link.cables > 1 ? fmt::format(" ({} cables)", link.cables) : "");
}

std::string pair_words(const network::PairTraffic& pair) {
    return fmt::format("rank {} to {}: {}", pair.from, pair.to, format_bytes(static_cast<double>(pair.bytes)));
}

std::string rank_ranges(const std::vector<uint32_t>& ranks) {
    std::string words;
    for (size_t first = 0, next = 0; first < ranks.size(); first = next) {
        next = first + 1;
        while (next < ranks.size() && ranks[next] == ranks[next - 1] + 1)
            ++next;
        words += fmt::format("{}{}", words.empty() ? "" : ", ", ranks[first]);
        if (next - first > 1)
            words += fmt::format("-{}", ranks[next - 1]);
    }
    return words;
}

std::vector<std::string> topology_notes(const network::Study& study) {
    std::vector<std::string> notes = study.plan.topology.notes;
    if (!study.knows_wiring)
        notes.push_back("how the hosts are joined is not known (--topology FILE says it): only what leaves a host counts");
    if (!study.plan.job)
        return notes;
    if (study.plan.job->collective_bytes > 0)
        notes.push_back(fmt::format("{} sent in collectives are not in these figures: the library chooses their way",
                                    format_bytes(study.plan.job->collective_bytes)));
    if (study.plan.job->unplaced_bytes > 0)
        notes.push_back(fmt::format("{} went to ranks that the recording put together, and are not in these figures",
                                    format_bytes(static_cast<double>(study.plan.job->unplaced_bytes))));
    if (!study.order.without.empty() && !study.shape.grid)
        notes.push_back(fmt::format("the order was looked for by exchanges alone: {}", study.order.without));
    return notes;
}

} // namespace plumb
