#include "network/order/scotch_placement.h"

#include "network/machine/torus.h"
#include "network/order/exact_parts.h"
#include "network/order/scotch_library.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace plumb::network {

#if defined(PLUMB_HAS_SCOTCH)

namespace {

constexpr size_t kMostThorough = 2'000'000; // partners; of larger graphs the quick strategy is good enough, and ten times as quick
constexpr double kMostWeight = 1u << 30;    // of all edges together: Scotch adds them up in 32 bits, times distances

// Scotch's handles, given back when they go.
class ScotchGraph {
  public:
    ScotchGraph(const ScotchLibrary& library, const Partners& partners, const std::vector<SCOTCH_Num>& vertex_weights)
        : library_(library), first_(partners.first.begin(), partners.first.end()), to_(partners.ranks.begin(), partners.ranks.end()),
          vertex_weights_(vertex_weights) {
        double sum = 0;
        for (const uint64_t bytes : partners.bytes)
            sum += static_cast<double>(bytes);
        constexpr double kMostHops = 64;
        const double unit = std::max(1.0, sum / (kMostWeight / kMostHops - static_cast<double>(partners.bytes.size())));
        weights_.reserve(partners.bytes.size());
        for (const uint64_t bytes : partners.bytes)
            weights_.push_back(1 + static_cast<SCOTCH_Num>(static_cast<double>(bytes) / unit));
        library_.init_graph(&graph_);
        works_ = library_.build_graph(&graph_, 0, static_cast<SCOTCH_Num>(partners.count()), first_.data(), nullptr,
                                      vertex_weights_.empty() ? nullptr : vertex_weights_.data(), nullptr,
                                      static_cast<SCOTCH_Num>(to_.size()), to_.data(), weights_.data()) == 0;
    }
    ~ScotchGraph() { library_.exit_graph(&graph_); }
    ScotchGraph(const ScotchGraph&) = delete;
    ScotchGraph& operator=(const ScotchGraph&) = delete;

    // Part of each vertex; empty: Scotch failed.
    std::vector<uint32_t> mapped_to(const SCOTCH_Arch& arch, size_t parts) {
        if (!works_)
            return {};
        SCOTCH_Strat strategy;
        library_.init_strategy(&strategy);
        constexpr double kUneven = 0.01;
        library_.build_strategy(&strategy, to_.size() > kMostThorough ? SCOTCH_STRATSPEED : SCOTCH_STRATQUALITY,
                                static_cast<SCOTCH_Num>(parts), kUneven);
        std::vector<SCOTCH_Num> part(first_.size() - 1);
        library_.reset_random(); // the same order every time
        const bool is_done = library_.map(&graph_, &arch, &strategy, part.data()) == 0;
        library_.exit_strategy(&strategy);
        if (!is_done || std::ranges::any_of(part, [&](SCOTCH_Num each) { return each < 0 || static_cast<size_t>(each) >= parts; }))
            return {};
        return {part.begin(), part.end()};
    }

  private:
    const ScotchLibrary& library_;
    SCOTCH_Graph graph_;
    std::vector<SCOTCH_Num> first_, to_, weights_;
    std::vector<SCOTCH_Num> vertex_weights_;
    bool works_ = false;
};

class ScotchArch {
  public:
    explicit ScotchArch(const ScotchLibrary& library) : library_(library) { library_.init_arch(&arch); }
    ~ScotchArch() { library_.exit_arch(&arch); }
    ScotchArch(const ScotchArch&) = delete;
    ScotchArch& operator=(const ScotchArch&) = delete;

    SCOTCH_Arch arch;

  private:
    const ScotchLibrary& library_;
};

// Only what these ranks exchange with one another, renumbered.
Partners among(const Partners& all, const std::vector<uint32_t>& ranks, std::vector<uint32_t>& number) {
    for (uint32_t i = 0; i < ranks.size(); ++i)
        number[ranks[i]] = i;
    Partners own;
    own.first.assign(1, 0);
    for (const uint32_t rank : ranks) {
        for (size_t at = all.first[rank]; at < all.first[rank + size_t{1}]; ++at)
            if (const uint32_t other = number[all.ranks[at]]; other != UINT32_MAX) {
                own.ranks.push_back(other);
                own.bytes.push_back(all.bytes[at]);
            }
        own.first.push_back(own.ranks.size());
    }
    for (const uint32_t rank : ranks)
        number[rank] = UINT32_MAX;
    return own;
}

class Placement {
  public:
    Placement(const ScotchLibrary& library, const Network& network, const Partners& partners, std::span<const NodeIndex> node_of)
        : library_(library), partners_(partners), node_of_(node_of), number_(partners.count(), UINT32_MAX) {
        made_.slot_of.resize(partners.count());
        std::vector<uint32_t> all(partners.count());
        std::iota(all.begin(), all.end(), 0u);
        std::vector<std::vector<uint32_t>> levels = network.levels();
        if (const auto* torus = dynamic_cast<const Torus*>(&network)) {
            std::vector<uint32_t> routers;
            for (NodeIndex node = 0; node < network.node_count(); ++node)
                routers.push_back(torus->router_of(node));
            levels = {routers};
        }
        std::vector<uint32_t> nodes(network.node_count());
        std::iota(nodes.begin(), nodes.end(), 0u);
        levels.push_back(std::move(nodes));
        if (!give(all, all, levels, 0))
            made_ = {{}, "Scotch could not divide this job's ranks"};
        else if (const auto* torus = dynamic_cast<const Torus*>(&network))
            move_routers(*torus);
    }

    ScotchPlacement made() { return std::move(made_); }

  private:
    // Gives these slots to these ranks, part by part.
    bool give(const std::vector<uint32_t>& ranks, const std::vector<uint32_t>& slots, const std::vector<std::vector<uint32_t>>& levels,
              size_t level) {
        if (level == levels.size() || ranks.size() == 1) {
            for (size_t i = 0; i < ranks.size(); ++i)
                made_.slot_of[ranks[i]] = slots[i];
            return true;
        }
        std::unordered_map<uint32_t, uint32_t> numbers;
        std::vector<std::vector<uint32_t>> slots_of_part, ranks_of_part;
        for (const uint32_t slot : slots) {
            const auto [entry, is_new] = numbers.emplace(levels[level][node_of_[slot]], static_cast<uint32_t>(slots_of_part.size()));
            if (is_new)
                slots_of_part.emplace_back();
            slots_of_part[entry->second].push_back(slot);
        }
        if (slots_of_part.size() == 1)
            return give(ranks, slots, levels, level + 1);
        std::vector<uint32_t> sizes;
        for (const auto& each : slots_of_part)
            sizes.push_back(static_cast<uint32_t>(each.size()));
        const Partners own = among(partners_, ranks, number_);
        std::vector<uint32_t> part = divided(own, sizes);
        if (part.empty())
            return false;
        make_exact(own, sizes, part);
        ranks_of_part.resize(sizes.size());
        for (size_t i = 0; i < ranks.size(); ++i)
            ranks_of_part[part[i]].push_back(ranks[i]);
        for (size_t i = 0; i < sizes.size(); ++i)
            if (!give(ranks_of_part[i], slots_of_part[i], levels, level + 1))
                return false;
        return true;
    }

    std::vector<uint32_t> divided(const Partners& own, const std::vector<uint32_t>& sizes) {
        if (std::ranges::max(sizes) == 1) { // each has a place of its own, whichever
            std::vector<uint32_t> part(own.count());
            std::iota(part.begin(), part.end(), 0u);
            return part;
        }
        const std::vector<SCOTCH_Num> weights(sizes.begin(), sizes.end());
        ScotchArch arch(library_);
        if (library_.weighted_arch(&arch.arch, static_cast<SCOTCH_Num>(weights.size()), weights.data()) != 0)
            return {};
        return ScotchGraph(library_, own, {}).mapped_to(arch.arch, sizes.size());
    }

    // The ranks of a router stay together, and go to another one, where all routers have as many slots.
    void move_routers(const Torus& torus) {
        std::unordered_map<uint32_t, uint32_t> numbers;
        std::vector<uint32_t> routers; // by number
        std::vector<std::vector<uint32_t>> slots_of;
        for (uint32_t slot = 0; slot < node_of_.size(); ++slot) {
            const uint32_t router = torus.router_of(node_of_[slot]);
            const auto [entry, is_new] = numbers.emplace(router, static_cast<uint32_t>(routers.size()));
            if (is_new) {
                routers.push_back(router);
                slots_of.emplace_back();
            }
            slots_of[entry->second].push_back(slot);
        }
        const auto is_other = [&](const auto& slots) { return slots.size() != slots_of.front().size(); };
        if (routers.size() < 2 || std::ranges::any_of(slots_of, is_other))
            return;
        std::vector<uint32_t> group_of(partners_.count());
        for (uint32_t rank = 0; rank < partners_.count(); ++rank)
            group_of[rank] = numbers.at(torus.router_of(node_of_[made_.slot_of[rank]]));
        const Partners groups = together(partners_, group_of, static_cast<uint32_t>(routers.size()));
        std::vector<uint32_t> to = mapped_to_torus(torus, groups, routers);
        if (to.empty())
            return;
        make_exact(groups, std::vector<uint32_t>(routers.size(), 1), to);
        std::vector<uint32_t> taken(routers.size(), 0);
        for (uint32_t rank = 0; rank < partners_.count(); ++rank) {
            const uint32_t own = to[group_of[rank]];
            made_.slot_of[rank] = slots_of[own][taken[own]++];
        }
    }

    // Scotch knows tori that wrap in all dimensions: what this one is taken for.
    std::vector<uint32_t> mapped_to_torus(const Torus& torus, const Partners& groups, const std::vector<uint32_t>& routers) {
        std::vector<SCOTCH_Num> sizes, places; // places: of each router in the torus as its cables go
        for (const Dimension& dimension : torus.dimensions())
            sizes.push_back(static_cast<SCOTCH_Num>(dimension.size));
        for (const uint32_t router : routers) {
            SCOTCH_Num place = 0;
            for (size_t i = sizes.size(); i-- > 0;)
                place = place * sizes[i] + static_cast<SCOTCH_Num>(torus.place_on_cable(i, torus.coordinate(router, i)));
            places.push_back(place);
        }
        ScotchArch whole(library_), part(library_);
        if (library_.torus_arch(&whole.arch, static_cast<SCOTCH_Num>(sizes.size()), sizes.data()) != 0 ||
            library_.part_of_arch(&part.arch, &whole.arch, static_cast<SCOTCH_Num>(places.size()), places.data()) != 0)
            return {};
        return ScotchGraph(library_, groups, {}).mapped_to(part.arch, routers.size());
    }

    const ScotchLibrary& library_;
    const Partners& partners_;
    const std::span<const NodeIndex> node_of_;
    std::vector<uint32_t> number_; // of among()
    ScotchPlacement made_;
};

} // namespace

ScotchPlacement scotch_placement(const Network& network, const Partners& partners, std::span<const NodeIndex> node_of) {
    const ScotchLibrary& library = ScotchLibrary::opened();
    if (!library.why_not.empty())
        return {{}, library.why_not};
    if (partners.ranks.empty())
        return {};
    return Placement(library, network, partners, node_of).made();
}

#else

ScotchPlacement scotch_placement(const Network&, const Partners&, std::span<const NodeIndex>) {
    return {{}, "this plumb was built without Scotch (Debian: libscotch-dev)"};
}

#endif

} // namespace plumb::network
