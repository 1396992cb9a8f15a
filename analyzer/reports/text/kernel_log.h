// plumb report --kernel-log, as text.
#pragma once

#include "kernel_log/study.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

std::string kernel_log_text(const kernel_log::Study& study, const TextStyle& style);

} // namespace plumb
