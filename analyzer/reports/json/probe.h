// plumb probe as JSON: the schema is probe.schema.json.
#pragma once

#include "probe/judge/outcome.h"

#include <string>
#include <vector>

namespace plumb {

std::string probe_json(const probe::ProbeOutcome& outcome);
std::string probe_list_json(const std::vector<probe::EarlierProbe>& probes, const std::string& file);

} // namespace plumb
