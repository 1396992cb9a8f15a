#pragma once

#include "analysis/report.h"
#include "trial/facts.h"

namespace plumb::trial {

// Of this machine, as plumb itself may use it, and of the report of the first run.
Facts gather_facts(const Report& report);

// "libblas.so.3" of "/usr/lib/x/libblas.so.3.11.0".
std::string library_name(const std::string& path);

} // namespace plumb::trial
