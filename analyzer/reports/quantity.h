// Numbers as people read them: three significant digits, a unit, never more precision than was measured.
#pragma once

#include "diagnoses/finding.h"

#include <string>
#include <string_view>

namespace plumb {

std::string format_seconds(double seconds);   // "12.3 s", "820 ms", "3.4 us", "1 h 02 min"
std::string format_bytes(double bytes);       // "1.50 GiB"
std::string format_fraction(double fraction); // 0.483 -> "48 %", 0.0321 -> "3.2 %"
std::string format_count(double count);       // "1,234" below a million, "12.3 M" above
std::string format_metric(double value,
                          std::string_view unit); // unit: fraction, seconds, bytes, count, or free

// An evidence entry as a phrase. The unit is the last word of the key: "run_delay_seconds", 5.9 ->
// "run delay 5.9 s". Keys without a known unit show the bare value. Lists show at most `list_limit` items.
std::string format_evidence(const std::string& key, const Value& value, size_t list_limit = 8);

// 0,1,2,3,8 -> "0-3,8": the list format of the kernel. Expects sorted numbers.
std::string format_cpu_list(const std::vector<int>& cpus);

} // namespace plumb
