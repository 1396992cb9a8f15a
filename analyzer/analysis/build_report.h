// Decides everything a report shows; text, JSON and HTML only give it a form.
#pragma once

#include "diagnoses/registry.h"
#include "model/call_paths.h"
#include "analysis/report.h"

#include <span>
#include <string>
#include <vector>

namespace plumb {

// The analyses, then the diagnoses, then what a report shows beside their findings. Runs the diagnoses of `entries` whose ids are in `only` (all of them when it is empty) and sorts what they
// find. A diagnosis that fails loses its own findings only: the failure becomes missing evidence. The report
// refers to the run of `paths`, which must outlive it. Throws Error for an id that no entry has.
// `every_line`: of the profile and of call sites, not only the first ones.
Report build_report(model::CallPaths& paths, std::span<const DiagnosisEntry> entries,
                    const std::vector<std::string>& only, bool every_line = false);

} // namespace plumb
