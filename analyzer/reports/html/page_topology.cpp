#include "reports/html/page_topology.h"

#include "reports/html/page_mpi.h"
#include "reports/html/rounded.h"
#include "reports/words/topology_words.h"

#include <algorithm>
#include <numeric>

namespace plumb {

namespace {

constexpr size_t kMostPlaces = 6'000, kMostDrawnLinks = 20'000;

// `position`: of each rank, in rows and columns.
Json matrix_data(const network::Traffic& traffic, const std::vector<uint32_t>& position) {
    model::MpiMatrix matrix;
    for (const network::PairTraffic& pair : traffic.pairs)
        matrix.places.push_back({.from = position[pair.from], .to = position[pair.to], .messages = pair.messages, .bytes = pair.bytes});
    return mpi_matrix_data(matrix, static_cast<int>(traffic.ranks));
}

// Ranks of one node beside one another: nodes in the order of the network.
std::vector<uint32_t> positions_by_node(const std::vector<network::NodeIndex>& node_of) {
    std::vector<uint32_t> ranks(node_of.size()), position(node_of.size());
    std::iota(ranks.begin(), ranks.end(), 0u);
    std::ranges::stable_sort(ranks, {}, [&](uint32_t rank) { return node_of[rank]; });
    for (uint32_t i = 0; i < ranks.size(); ++i)
        position[ranks[i]] = i;
    return position;
}

double load_of(const std::vector<double>& bytes, network::LinkIndex link) { return link < bytes.size() ? bytes[link] : 0; }

Json point(double x, double y) { return Json::array({rounded(x, 100), rounded(y, 100)}); }

Json places_data(const network::Study& study, const network::Drawing& drawing) {
    Json places = Json::array();
    for (const network::DrawnPlace& place : drawing.places) {
        const auto own = std::ranges::count_if(place.nodes, [&](uint32_t node) { return std::ranges::binary_search(study.nodes, node); });
        const std::string names = place.nodes.size() == 1 ? study.network->node_name(place.nodes.front()) : "";
        places.push_back(Json::array({point(place.at.x, place.at.y), names.empty() ? place.name : names, own, place.nodes.size()}));
    }
    return places;
}

Json links_data(const network::Study& study, const network::Drawing& drawing) {
    Json links = Json::array();
    for (const network::DrawnLink& each : drawing.links) {
        const double now = load_of(study.order.before.link_bytes, each.link),
                     better = study.order_is_better() ? load_of(study.order.after.link_bytes, each.link) : 0;
        if (now <= 0 && better <= 0)
            continue;
        const uint32_t cables = study.network->cables(each.link);
        links.push_back(Json::array({point(each.from.x, each.from.y), point(each.to.x, each.to.y), link_name(study.network->link(each.link)),
                                     rounded(now / cables, 1), rounded(better / cables, 1)}));
    }
    return links;
}

Json picture_data(const network::Study& study) {
    if (!has_network_picture(study))
        return nullptr;
    const network::Drawing drawing = study.network->drawing();
    return {{"places", places_data(study, drawing)}, {"links", links_data(study, drawing)}};
}

} // namespace

bool has_network_picture(const network::Study& study) {
    const auto loaded = [](const network::HopBytes& load) { return std::ranges::count_if(load.link_bytes, [](double bytes) { return bytes > 0; }); };
    return study.knows_wiring && study.network->place_count() <= kMostPlaces &&
           static_cast<size_t>(loaded(study.order.before) + loaded(study.order.after)) <= kMostDrawnLinks;
}

Json topology_chart_data(const network::Study& study) {
    Json by_rank = nullptr, by_node = nullptr;
    if (study.has_traffic()) {
        const network::Traffic& traffic = study.plan.job->traffic;
        std::vector<uint32_t> ranks(traffic.ranks);
        std::iota(ranks.begin(), ranks.end(), 0u);
        by_rank = matrix_data(traffic, ranks);
        if (study.order_is_better())
            by_node = matrix_data(traffic, positions_by_node(study.order.node_of));
    }
    return {{"ranks", study.has_traffic() ? study.plan.job->traffic.ranks : 0},
            {"by_rank", std::move(by_rank)},
            {"by_node", std::move(by_node)},
            {"picture", picture_data(study)},
            {"order_is_better", study.has_traffic() && study.order_is_better()}};
}

} // namespace plumb
