// Lists of positions as users write them for --list: 0,2,4-7,8-14:2. Unlike the kernel's sets of CPUs they have an
// order and may repeat a number.
#pragma once

#include <string_view>
#include <vector>

namespace plumb::placement {

// No number reaches this, and no list is longer.
inline constexpr int kMostPositions = 1 << 16;

// Expands `text` in the order written. A range is FIRST-LAST or FIRST-LAST:STEP. Blanks around the parts are
// ignored; an empty list gives an empty vector. Throws plumb::Error that names the part that could not be read.
std::vector<int> parse_position_list(std::string_view text);

} // namespace plumb::placement
