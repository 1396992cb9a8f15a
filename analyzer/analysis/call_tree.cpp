#include "analysis/call_tree.h"

#include "analysis/profile.h"
#include "analyses/time/own_time.h"
#include "analyses/time/spin_loop_at.h"
#include "analyses/time/wait_class.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace plumb {

namespace {

constexpr double kSmallestShare = 0.001;
constexpr size_t kMostDepth = 128; // of functions: recursion deeper than that is cut off

struct Branch {
    std::map<TimeClass, double> seconds; // of what ends here, or is below
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Branch>> children; // name, module
    size_t depth = 0;
    std::pair<std::string, std::string> key;

    Branch* child(const std::string& name, const std::string& module) {
        std::unique_ptr<Branch>& place = children[{name, module}];
        if (!place) {
            place = std::make_unique<Branch>();
            place->depth = depth + 1;
            place->key = {name, module};
        }
        return place.get();
    }
    double all() const {
        double sum = 0;
        for (const auto& [kind, part] : seconds)
            sum += part;
        return sum;
    }
};

class Grower {
  public:
    Grower(model::CallPaths& paths, const TimeAccount& account) : paths_(paths), account_(account) {}

    Branch grow() {
        Branch root;
        const std::vector<model::Process>& processes = paths_.run().processes;
        size_t next = 0; // of account_.threads, which are in the order of the model
        for (size_t process = 0; process < processes.size(); ++process) {
            known_.assign(processes[process].paths.size(), {});
            Branch* base = processes.size() == 1 ? &root : root.child(processes[process].name, "");
            next = add_process(process, base, next);
        }
        add_up(root);
        return root;
    }

  private:
    struct Known { // of a node of the process at hand
        Branch* branch = nullptr;
        TimeClass kind = TimeClass::computing;
    };

    size_t add_process(size_t index, Branch* base, size_t next) {
        const model::Process& process = paths_.run().processes[index];
        std::vector<double> sampled_ns(process.threads.size()), looked_ns(process.threads.size());
        std::vector<const ThreadAccount*> accounts(process.threads.size());
        for (; next < account_.threads.size() && account_.threads[next].process == index; ++next)
            if (account_.threads[next].thread < accounts.size())
                accounts[account_.threads[next].thread] = &account_.threads[next];
        for (const model::SampleSite& site : process.samples)
            if (site.thread < sampled_ns.size())
                sampled_ns[site.thread] += static_cast<double>(site.time_ns);
        for (const model::BlockedSite& site : process.blocked)
            if (site.thread < looked_ns.size())
                looked_ns[site.thread] += static_cast<double>(site.time_ns);
        for (const model::SampleSite& site : process.samples)
            if (site.thread < accounts.size() && accounts[site.thread] && sampled_ns[site.thread] > 0) {
                const Known& place = branch_of(index, site.path, base);
                place.branch->seconds[place.kind] +=
                    accounts[site.thread]->run_s * static_cast<double>(site.time_ns) / sampled_ns[site.thread];
            }
        for (const model::BlockedSite& site : process.blocked)
            if (site.thread < accounts.size() && accounts[site.thread] && looked_ns[site.thread] > 0 &&
                !accounts[site.thread]->idles)
                add_wait(index, site, base,
                         accounts[site.thread]->blocked_s * static_cast<double>(site.time_ns) / looked_ns[site.thread]);
        return next;
    }

    void add_wait(size_t process, const model::BlockedSite& site, Branch* base, double time_s) {
        const WaitKind kind = wait_class_of(paths_, process, site).kind;
        if (kind == WaitKind::thread_end || kind == WaitKind::child)
            return;
        const TimeClass time_class = kind == WaitKind::plumb ? TimeClass::plumb : TimeClass::blocked;
        branch_of(process, site.path, base).branch->child(words_of(kind), "")->seconds[time_class] += time_s;
    }

    // The branch that the path from the outermost caller to `node` ends in.
    const Known& branch_of(size_t process, uint32_t node, Branch* base) {
        if (node >= known_.size()) {
            lost_.branch = base;
            return lost_;
        }
        std::vector<uint32_t> missing;
        const std::vector<model::PathNode>& nodes = paths_.run().processes[process].paths;
        uint32_t at = node;
        for (; at != 0 && at < nodes.size() && !known_[at].branch && missing.size() < nodes.size(); at = nodes[at].parent)
            missing.push_back(at);
        Branch* branch = at != 0 && at < nodes.size() && known_[at].branch ? known_[at].branch : base;
        for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
            if (nodes[*next].truncated)
                branch = branch->child("callers not known", "");
            const std::vector<model::SourceFrame>& frames = paths_.frames_of(process, *next);
            for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
                branch = step(branch, *frame);
            known_[*next] = {branch, kind_of(process, *next)};
        }
        if (node == 0)
            known_[0] = {base, TimeClass::computing};
        return known_[node];
    }

    // Recursion into itself stays one level, and so do paths beyond the greatest depth.
    Branch* step(Branch* branch, const model::SourceFrame& frame) {
        const model::SourceFrame named = without_offset(frame);
        const std::string& name = named.function.empty() ? named.module : named.function;
        const std::pair<std::string, std::string> key{name, named.module};
        return branch->depth >= kMostDepth || branch->key == key ? branch : branch->child(name, named.module);
    }

    TimeClass kind_of(size_t process, uint32_t node) {
        const model::PathNode& place = paths_.run().processes[process].paths[node];
        if (is_own_code(paths_, process, node))
            return TimeClass::plumb;
        if (place.kernel)
            return yielding_loop_at(paths_.run().processes[process], node) ? TimeClass::spinning : TimeClass::kernel;
        const model::Module* module = paths_.module_of(process, place.address);
        if (module && model::is_mpi_module(module->path))
            return TimeClass::mpi;
        if (module && model::is_openmp_module(module->path))
            return TimeClass::team;
        return spin_loop_at(paths_.run().processes[process], node) ? TimeClass::spinning : TimeClass::computing;
    }

    static void add_up(Branch& branch) {
        for (auto& [key, child] : branch.children) {
            add_up(*child);
            for (const auto& [kind, part] : child->seconds)
                branch.seconds[kind] += part;
        }
    }

    model::CallPaths& paths_;
    const TimeAccount& account_;
    std::vector<Known> known_;
    Known lost_;
};

// The smallest time of a node that is kept.
double least_seconds(const Branch& root, size_t most) {
    std::vector<double> all;
    const std::function<void(const Branch&)> collect = [&](const Branch& branch) {
        all.push_back(branch.all());
        for (const auto& [key, child] : branch.children)
            collect(*child);
    };
    collect(root);
    const double least = root.all() * kSmallestShare;
    if (all.size() <= most)
        return least;
    std::nth_element(all.begin(), all.begin() + static_cast<ptrdiff_t>(most), all.end(), std::greater{});
    return std::max(least, all[most]);
}

CallTreeNode pruned(const Branch& branch, const std::pair<std::string, std::string>& name, double least) {
    CallTreeNode node{name.first, name.second, TimeClass::computing, branch.all(), {}};
    double most = -1;
    for (const auto& [kind, part] : branch.seconds)
        if (part > most) {
            most = part;
            node.kind = kind;
        }
    for (const auto& [key, child] : branch.children)
        if (child->all() > least)
            node.children.push_back(pruned(*child, key, least));
    std::ranges::stable_sort(node.children, std::greater{}, &CallTreeNode::seconds);
    return node;
}

} // namespace

CallTreeNode call_tree_of(model::CallPaths& paths, const TimeAccount& account, size_t most) {
    const Branch root = Grower(paths, account).grow();
    return pruned(root, {}, least_seconds(root, most));
}

} // namespace plumb
