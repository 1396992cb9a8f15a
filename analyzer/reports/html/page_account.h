// The time account and the call tree as the page's charts want them.
#pragma once

#include "analysis/report.h"
#include "reports/json/document.h"

namespace plumb {

// [[label, running, waiting for a CPU, blocked, waits by design]]: seconds, of the threads with most CPU time.
Json thread_chart_data(const Report& report);

// [name, module, kind, seconds, [children]]; null for an empty tree. `kind` as to_string(TimeClass).
Json call_tree_chart_data(const CallTreeNode& tree);

} // namespace plumb
