#include "reports/json/topology.h"

#include "reports/words/topology_words.h"

#include <nlohmann/json.hpp>

namespace plumb {

namespace {

using network::Study;
using nlohmann::ordered_json;

ordered_json load_json(const network::HopBytes& load, const std::vector<network::NamedLink>& links, double shared) {
    ordered_json entry{{"bytes", load.bytes},
                       {"message_count", load.messages},
                       {"link_bytes", load.hop_bytes},
                       {"links_of_a_byte", load.mean_hops_of_bytes()},
                       {"links_of_a_message", load.mean_hops()},
                       {"most_links", load.most_hops},
                       {"leaving_bytes", load.leaving_bytes},
                       {"shared_fraction", shared},
                       {"busiest_links", ordered_json::array()}};
    for (const network::NamedLink& each : links) {
        ordered_json pairs = ordered_json::array();
        for (const network::PairTraffic& pair : each.pairs)
            pairs.push_back({{"from", pair.from}, {"to", pair.to}, {"bytes", pair.bytes}});
        entry["busiest_links"].push_back({{"from", each.link.from}, {"to", each.link.to}, {"cables", each.link.cables},
                                          {"bytes", each.bytes}, {"pairs", std::move(pairs)}});
    }
    return entry;
}

const char* name_of(network::JobShape::Kind kind) {
    using Kind = network::JobShape::Kind;
    switch (kind) {
    case Kind::silent:
        return "silent";
    case Kind::grid:
        return "grid";
    case Kind::all_to_all:
        return "all-to-all";
    case Kind::groups:
        return "groups";
    case Kind::rows_and_columns:
        return "rows-and-columns";
    case Kind::master:
        return "master";
    case Kind::other:
        break;
    }
    return "irregular";
}

ordered_json allocation_json(const Study& study) {
    const network::Allocation& own = study.allocation;
    ordered_json entry{{"nodes", own.nodes}, {"places", own.places}, {"pieces", own.pieces}, {"mean_links", own.mean_hops},
                       {"compact_mean_links", own.compact_mean_hops}};
    if (own.box)
        entry["box"] = {{"sizes", own.box->sizes}, {"nodes", own.box->nodes}};
    return entry;
}

} // namespace

std::string topology_json(const Study& study) {
    ordered_json document{{"schema", "plumb-topology-report/1"},
                          {"network", {{"known", study.knows_wiring},
                                       {"inside", study.is_inside()},
                                       {"description", study.network->description()},
                                       {"nodes", study.network->node_count()},
                                       {"links", study.network->link_count()}}}};
    if (!study.nodes.empty())
        document["allocation"] = allocation_json(study);
    if (study.plan.job) {
        document["job"] = {{"run", study.plan.job->run}, {"ranks", study.node_of.size()}, {"hosts", study.host_of}};
        document["shape"] = {{"kind", name_of(study.shape.kind)}, {"bytes_fraction", study.shape.share}};
        if (study.shape.grid)
            document["shape"]["sizes"] = study.shape.grid->sizes;
        else if (!study.shape.sizes.empty())
            document["shape"]["sizes"] = study.shape.sizes;
        document["now"] = load_json(study.order.before, study.heaviest, study.shared);
        document["better"] = nullptr;
        if (study.order_is_better()) {
            document["better"] = load_json(study.order.after, study.heaviest_after, study.shared_after);
            document["better"]["found_by"] = study.order.method == network::RankOrder::Method::grid ? "grid" : "partition";
            document["better"]["host_of_rank"] = study.new_host_of();
        }
    }
    document["notes"] = topology_notes(study);
    return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb
