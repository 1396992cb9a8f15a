// A history of a machine: a file with one line of JSON for each interval that plumb system looked at, oldest first. The public
// interface "plumb-system-history/1"; grows by new keys only.
#pragma once

#include "analyses/system/history_entry.h"
#include "analysis/report.h"

#include <optional>
#include <string>
#include <string_view>

namespace plumb {

// Of a report on a machine; one line without its end.
std::string history_line(const Report& report);

// Nothing: it is no such line, or a damaged one.
std::optional<HistoryEntry> parse_history_line(std::string_view line);

} // namespace plumb
