// plumb report --kernel-log, as JSON in the schema plumb-kernel-log/1.
#pragma once

#include "kernel_log/study.h"

#include <string>

namespace plumb {

std::string kernel_log_json(const kernel_log::Study& study);

} // namespace plumb
