// The text forms of a machine's history.
#pragma once

#include "analyses/system/history_entry.h"
#include "reports/text/canvas.h"

#include <string>
#include <vector>

namespace plumb {

// An interval a line: when, whose time, and what was out of plumb.
std::string history_text(const std::vector<HistoryEntry>& entries, size_t damaged, const TextStyle& style);

// One interval; `remark`: what is to be said first, such as that another time was asked for. May be empty.
std::string history_entry_text(const HistoryEntry& entry, const std::string& remark, const TextStyle& style);

} // namespace plumb
