// plumb probe on one screen.
#pragma once

#include "probe/judge/outcome.h"
#include "reports/text/terminal.h"

#include <string>
#include <vector>

namespace plumb {

std::string probe_text(const probe::ProbeOutcome& outcome, const TextStyle& style);
std::string probe_list_text(const std::vector<probe::EarlierProbe>& probes, const std::string& file, const TextStyle& style);

} // namespace plumb
