#include "compare/merged_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace plumb {

namespace {

constexpr double kLeastShownFrame = 0.001;

using Nodes = std::vector<const CallTreeNode*>; // of one name below one caller

class TreeMerger {
  public:
    TreeMerger(size_t base_runs, Pairing pairing, bool whole_changed)
        : base_runs_(base_runs), pairing_(pairing), whole_changed_(whole_changed) {}

    // `nodes`: of each run, those of the base first.
    MergedFrame merged(const std::vector<Nodes>& nodes) {
        MergedFrame frame;
        std::vector<double> seconds(nodes.size());
        double most_s = -1;
        for (size_t run = 0; run < nodes.size(); ++run)
            for (const CallTreeNode* node : nodes[run]) {
                seconds[run] += node->seconds;
                if (node->seconds > most_s) {
                    most_s = node->seconds;
                    frame.name = node->name;
                    frame.module = node->module;
                    frame.kind = node->kind;
                }
            }
        const auto middle = seconds.begin() + static_cast<ptrdiff_t>(base_runs_);
        const std::vector<double> base(seconds.begin(), middle), other(middle, seconds.end());
        frame.base_s = mean_of(base);
        frame.other_s = mean_of(other);
        frame.has_changed = whole_changed_ && shift_between(base, other, pairing_).is_one();
        if (root_s_ == 0)
            root_s_ = std::max(frame.base_s, frame.other_s);
        add_children(frame, nodes);
        return frame;
    }

  private:
    static double mean_of(const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }

    void add_children(MergedFrame& frame, const std::vector<Nodes>& nodes) {
        std::map<std::string, std::vector<Nodes>> children;
        for (size_t run = 0; run < nodes.size(); ++run)
            for (const CallTreeNode* node : nodes[run])
                for (const CallTreeNode& child : node->children)
                    children.try_emplace(child.name, nodes.size()).first->second[run].push_back(&child);
        for (const auto& [name, of_runs] : children)
            if (MergedFrame child = merged(of_runs); std::max(child.base_s, child.other_s) >= kLeastShownFrame * root_s_)
                frame.children.push_back(std::move(child));
        std::ranges::stable_sort(frame.children, std::greater{},
                                 [](const MergedFrame& one) { return std::max(one.base_s, one.other_s); });
    }

    size_t base_runs_;
    Pairing pairing_;
    bool whole_changed_;
    double root_s_ = 0;
};

} // namespace

MergedFrame merged_tree(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other, Pairing pairing,
                        bool whole_changed) {
    std::vector<Nodes> roots;
    for (const auto* runs : {&base, &other})
        for (const RunFigures& run : *runs)
            roots.push_back({&run.call_tree});
    return TreeMerger(base.size(), pairing, whole_changed).merged(roots);
}

} // namespace plumb
