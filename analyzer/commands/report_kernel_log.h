// plumb report --kernel-log.
#pragma once

#include "reports/print_report.h"

#include <cstdio>
#include <string>
#include <vector>

namespace plumb {

// `log`: a file, "-" for standard input, or "journal" for that of the run's time. `named`: at most one run directory, and programs and libraries. Throws Error where one is neither, the log cannot be read, or the
// output not be written.
void print_kernel_log(const std::string& log, const std::vector<std::string>& named, const ReportOptions& options, std::FILE* stream);

} // namespace plumb
