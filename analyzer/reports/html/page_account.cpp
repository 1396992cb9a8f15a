#include "reports/html/page_account.h"

#include "reports/html/rounded.h"
#include "reports/words/run_summary.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr size_t kMostThreads = 40;

Json node_array(const CallTreeNode& node) {
    Json children = Json::array();
    for (const CallTreeNode& child : node.children)
        children.push_back(node_array(child));
    return Json::array({node.name, node.module, to_string(node.kind), rounded(node.seconds, 1e6), children});
}

} // namespace

Json thread_chart_data(const Report& report) {
    std::vector<ThreadAccount> threads = report.account.threads;
    if (threads.empty())
        return Json::array();
    std::ranges::stable_sort(threads, std::greater{}, &ThreadAccount::run_s);
    threads.resize(std::min(threads.size(), kMostThreads));
    const std::vector<std::string> labels = process_labels(*report.run);
    Json rows = Json::array();
    for (const ThreadAccount& thread : threads) {
        const model::Process& process = report.run->processes[thread.process];
        const model::Thread& own = process.threads[thread.thread];
        std::string label = labels[thread.process];
        if (process.threads.size() > 1)
            label += " \u00b7 " + (own.name == process.name || own.name.empty() ? std::to_string(own.tid) : own.name);
        rows.push_back(Json::array({label, rounded(thread.run_s, 1e6), rounded(thread.no_cpu_s, 1e6),
                                    rounded(thread.blocked_s, 1e6), thread.idles}));
    }
    return rows;
}

Json call_tree_chart_data(const CallTreeNode& tree) {
    return tree.children.empty() ? Json(nullptr) : node_array(tree);
}

} // namespace plumb
