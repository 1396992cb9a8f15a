// Places of nodes as Cray writes them, c3-0c1s7n2: cabinet 3 of row 0, chassis (cage) 1, slot 7, node 2.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumb::network {

// The router of an XC: a group is two cabinets side by side, its rows are their 6 chassis, its columns the 16 slots. (group * rows + row)
// * columns + column. Throws Error where the name is no such place, or lies outside of these rows and columns.
uint32_t cray_router(std::string_view name, uint32_t cabinets_in_row, uint32_t rows, uint32_t columns);

} // namespace plumb::network
