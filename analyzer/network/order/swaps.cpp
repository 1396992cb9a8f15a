#include "network/order/swaps.h"

#include "support/xorshift.h"

#include <algorithm>
#include <span>

namespace plumb::network {

namespace {

constexpr size_t kMostPartners = 4;    // of a rank, near which it is tried
constexpr size_t kMostCandidates = 16; // ranks there
constexpr double kLeastSaved = 0.001;  // of the hop-bytes, by a round

class Swaps {
  public:
    Swaps(const Network& network, const Partners& partners, std::vector<NodeIndex>& node_of)
        : network_(network), partners_(partners), node_of_(node_of), to_own_(network.routes()), to_other_(network.routes()),
          at_place_(network.place_count()), neighbours_(network.place_count()) {
        for (uint32_t rank = 0; rank < node_of.size(); ++rank)
            at_place_[network.place_of(node_of[rank])].push_back(rank);
    }

    void improve(Deadline deadline) {
        double cost = total_cost(), saved = cost;
        while (saved > kLeastSaved * cost) {
            cost -= saved == cost ? 0 : saved;
            saved = 0;
            for (uint32_t rank = 0; rank < node_of_.size(); ++rank) {
                if (rank % 64 == 0 && std::chrono::steady_clock::now() >= deadline)
                    return;
                saved += improve(rank);
            }
        }
    }

  private:
    double total_cost() {
        double sum = 0;
        for (uint32_t rank = 0; rank < node_of_.size(); ++rank)
            sum += cost_at(rank, node_of_[rank], rank, *to_own_);
        return sum / 2;
    }

    // Of the rank's messages, were it there; without those to `except`, whose distance does not change.
    double cost_at(uint32_t rank, NodeIndex node, uint32_t except, RoutesTo& routes) const {
        routes.aim_at(node);
        return cost(rank, except, routes);
    }
    double cost(uint32_t rank, uint32_t except, const RoutesTo& routes) const {
        double sum = 0;
        for (size_t at = partners_.first[rank]; at < partners_.first[rank + size_t{1}]; ++at)
            if (partners_.ranks[at] != except)
                sum += static_cast<double>(partners_.bytes[at]) * routes.hops_from(node_of_[partners_.ranks[at]]);
        return sum;
    }

    // Saved by the best exchange of this rank with another; 0: none saves anything.
    double improve(uint32_t rank) {
        double best = 0;
        uint32_t chosen = rank;
        to_own_->aim_at(node_of_[rank]);
        if (cost(rank, rank, *to_own_) <= 0)
            return 0;
        for (const uint32_t other : candidates(rank)) {
            if (node_of_[other] == node_of_[rank])
                continue;
            to_other_->aim_at(node_of_[other]);
            const double saved = cost(rank, other, *to_own_) - cost(rank, other, *to_other_) + cost(other, rank, *to_other_) -
                                 cost(other, rank, *to_own_);
            if (saved > best) {
                best = saved;
                chosen = other;
            }
        }
        if (chosen != rank)
            exchange(rank, chosen);
        return best;
    }

    void exchange(uint32_t rank, uint32_t other) {
        std::vector<uint32_t>&own = at_place_[network_.place_of(node_of_[rank])], &others = at_place_[network_.place_of(node_of_[other])];
        if (&own != &others) {
            *std::ranges::find(own, rank) = other;
            *std::ranges::find(others, other) = rank;
        }
        std::swap(node_of_[rank], node_of_[other]);
    }

    const std::vector<uint32_t>& candidates(uint32_t rank) {
        candidates_.clear();
        heaviest_.clear();
        for (size_t at = partners_.first[rank]; at < partners_.first[rank + size_t{1}]; ++at)
            heaviest_.emplace_back(partners_.bytes[at], partners_.ranks[at]);
        const size_t count = std::min(kMostPartners, heaviest_.size());
        std::ranges::partial_sort(heaviest_, heaviest_.begin() + static_cast<std::ptrdiff_t>(count), std::greater{});
        for (size_t i = 0; i < count; ++i) {
            const uint32_t place = network_.place_of(node_of_[heaviest_[i].second]);
            append(at_place_[place], kMostCandidates / kMostPartners);
            for (const uint32_t beside : neighbours_of(place))
                append(at_place_[beside], 1);
            if (candidates_.size() >= kMostCandidates)
                break;
        }
        return candidates_;
    }

    // An even choice.
    void append(const std::vector<uint32_t>& ranks, size_t most) {
        for (size_t i = 0; i < std::min(most, ranks.size()); ++i)
            candidates_.push_back(ranks.size() <= most ? ranks[i] : ranks[random_.next() % ranks.size()]);
    }

    const std::vector<uint32_t>& neighbours_of(uint32_t place) {
        std::vector<uint32_t>& known = neighbours_[place];
        if (known.empty()) {
            network_.append_neighbours(place, known);
            std::erase_if(known, [&](uint32_t each) { return at_place_[each].empty(); });
            while (known.size() > kMostCandidates) // an even choice
                known.erase(known.begin() + static_cast<std::ptrdiff_t>(random_.next() % known.size()));
        }
        return known;
    }

    const Network& network_;
    const Partners& partners_;
    std::vector<NodeIndex>& node_of_;
    const std::unique_ptr<RoutesTo> to_own_, to_other_;
    std::vector<std::vector<uint32_t>> at_place_;   // ranks
    std::vector<std::vector<uint32_t>> neighbours_; // places with ranks, as far as they were asked for
    std::vector<uint32_t> candidates_;
    std::vector<std::pair<uint64_t, uint32_t>> heaviest_;
    Xorshift random_;
};

} // namespace

void improve_by_swaps(const Network& network, const Partners& partners, std::vector<NodeIndex>& node_of, Deadline deadline) {
    Swaps(network, partners, node_of).improve(deadline);
}

} // namespace plumb::network
