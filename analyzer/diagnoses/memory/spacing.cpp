#include "diagnoses/memory/spacing.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace plumb {

namespace {

class Planner {
  public:
    Planner(const std::vector<uint64_t>& needs, const std::vector<int>& cpu_nodes,
            const std::map<int, SpacingNode>& nodes)
        : needs_(needs), cpu_nodes_(cpu_nodes), nodes_(nodes),
          all_(std::accumulate(needs.begin(), needs.end(), uint64_t{0})), largest_(*std::ranges::max_element(needs)) {
        int cpus = 0;
        for (const int number : std::set<int>(cpu_nodes.begin(), cpu_nodes.end()))
            if (const auto node = nodes.find(number); node != nodes.end() && node->second.cpu_count > 0) {
                room_ += node->second.room_bytes;
                most_room_ = std::max(most_room_, node->second.room_bytes);
                cpus += node->second.cpu_count;
                most_cpus_ = std::max(most_cpus_, node->second.cpu_count);
            }
        share_ = cpus > 0 ? room_ / static_cast<uint64_t>(cpus) : 0;
    }

    Spacing plan() const {
        Spacing spacing;
        spacing.cpu_share_bytes = share_;
        if (share_ == 0)
            return spacing;
        spacing.larger_than_node = largest_ > most_room_;
        if (spacing.larger_than_node) {
            // What does not fit goes to the neighbours, which nobody else uses at this distance.
            const uint64_t distance = (largest_ + share_ - 1) / share_;
            if (all_ <= room_ && span(distance) <= cpu_nodes_.size())
                spacing.cpus = static_cast<int>(distance);
        } else {
            for (size_t distance = 1; spacing.cpus == 0 && span(distance) <= cpu_nodes_.size(); ++distance) {
                if (suffices(distance))
                    spacing.cpus = static_cast<int>(distance);
                if (needs_.size() == 1)
                    break; // it is on the first CPU at any distance
            }
            if (spacing.cpus == 0)
                spacing.list = choose();
        }
        if (spacing.cpus > 0)
            spacing.span = span(static_cast<size_t>(spacing.cpus));
        else if (spacing.list.empty())
            spacing.cpus_needed = cpus_needed();
        return spacing;
    }

  private:
    uint64_t span(uint64_t distance) const { return (needs_.size() - 1) * distance + 1; }

    bool suffices(size_t distance) const {
        std::map<int, uint64_t> filled;
        for (size_t i = 0; i < needs_.size(); ++i)
            filled[cpu_nodes_[i * distance]] += needs_[i];
        return std::ranges::all_of(filled, [&](const auto& node) {
            const auto known = nodes_.find(node.first);
            return known != nodes_.end() && node.second <= known->second.room_bytes;
        });
    }

    // The first CPU for each whose node has room for it.
    std::vector<int> choose() const {
        std::vector<int> list;
        std::map<int, uint64_t> filled;
        std::vector<bool> taken(cpu_nodes_.size());
        for (const uint64_t need : needs_) {
            size_t cpu = 0;
            for (; cpu < cpu_nodes_.size(); ++cpu) {
                const auto node = nodes_.find(cpu_nodes_[cpu]);
                if (!taken[cpu] && node != nodes_.end() && filled[node->first] + need <= node->second.room_bytes)
                    break;
            }
            if (cpu == cpu_nodes_.size())
                return {};
            taken[cpu] = true;
            filled[cpu_nodes_[cpu]] += need;
            list.push_back(static_cast<int>(cpu));
        }
        return list;
    }

    // On nodes like the largest one here, as many threads on each as it has memory for.
    size_t cpus_needed() const {
        const size_t on_a_node = std::min(most_room_ / std::max<uint64_t>(largest_, 1), static_cast<uint64_t>(most_cpus_));
        if (on_a_node == 0)
            return (all_ + share_ - 1) / share_;
        return (needs_.size() + on_a_node - 1) / on_a_node * static_cast<size_t>(most_cpus_);
    }

    const std::vector<uint64_t>& needs_;
    const std::vector<int>& cpu_nodes_;
    const std::map<int, SpacingNode>& nodes_;
    uint64_t all_, largest_, room_ = 0, most_room_ = 0, share_ = 0;
    int most_cpus_ = 0;
};

} // namespace

Spacing spacing_for(const std::vector<uint64_t>& needs, const std::vector<int>& cpu_nodes,
                    const std::map<int, SpacingNode>& nodes) {
    return needs.empty() ? Spacing{} : Planner(needs, cpu_nodes, nodes).plan();
}

} // namespace plumb
