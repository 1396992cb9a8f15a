// Figures as people read them: three significant digits, one unit, no exponents, never more precision than was measured.
#pragma once

#include <cstdint>
#include <string>

namespace plumb {

std::string three_digits(double value); // "0.12", "12.3", "1230"; what is below 0.005 needs a smaller unit
std::string format_seconds(double seconds);   // "12.3 s", "820 ms", "3.4 us", "1 h 02 min"
std::string format_bytes(double bytes);       // "1.50 GiB"
std::string format_fraction(double fraction); // 0.483 -> "48 %", 0.0321 -> "3.2 %"
std::string format_count(double count);       // "1,234" below a million, "12.3 M" above
std::string counted(uint64_t count, const char* one, const char* many); // "1 rank", "1,234 ranks"

} // namespace plumb
