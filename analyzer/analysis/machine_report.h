// The report on a machine that plumb system looked at.
#pragma once

#include "analysis/report.h"
#include "model/call_paths.h"
#include "model/source_resolver.h"

#include <string>
#include <vector>

namespace plumb {

inline constexpr char kKernelLogFile[] = "kernel.log"; // of a run directory: what the kernel wrote meanwhile

// `only`: ids of diagnoses; empty: all. The report refers to the run of `paths`, which must outlive it.
Report build_machine_report(model::CallPaths& paths, model::SourceResolver& resolver, const std::vector<std::string>& only);

} // namespace plumb
