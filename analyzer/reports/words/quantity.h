// Numbers as people read them: three significant digits, a unit, never more precision than was measured.
#pragma once

#include "diagnoses/finding.h"
#include "support/cpu_list.h"
#include "support/figures.h"

#include <string>
#include <string_view>

namespace plumb {

std::string format_metric(double value,
                          std::string_view unit); // unit: fraction, seconds, bytes, count, or free

// An evidence entry as a phrase. The unit is the last word of the key: "run_delay_seconds", 5.9 ->
// "run delay 5.9 s". Keys without a known unit show the bare value. Lists show at most `list_limit` items.
std::string format_evidence(const std::string& key, const Value& value, size_t list_limit = 8);

} // namespace plumb
