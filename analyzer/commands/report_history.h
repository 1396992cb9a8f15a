// plumb report of the file that plumb system --history wrote.
#pragma once

#include "reports/print_report.h"

#include <cstdio>
#include <string>

namespace plumb {

// A file (no directory) whose first line is one of a history.
bool is_history_file(const std::string& path);

// `at`: a time within the interval to show, as "2026-01-17 14:30", "14:30" (the latest there is) or "@unix"; empty: all, a line
// each. Throws UsageError: no time. Throws Error: the file cannot be read, holds no interval, or the output cannot be written.
void print_history(const std::string& path, const std::string& at, const ReportOptions& options, std::FILE* stream);

} // namespace plumb
