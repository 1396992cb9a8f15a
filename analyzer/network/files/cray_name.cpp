#include "network/files/cray_name.h"

#include "support/error.h"

#include <charconv>
#include <fmt/format.h>

namespace plumb::network {

uint32_t cray_router(std::string_view name, uint32_t cabinets_in_row, uint32_t rows, uint32_t columns) {
    uint32_t numbers[5] = {}; // cabinet, row of cabinets, chassis, slot, node
    const char letters[5] = {'c', '-', 'c', 's', 'n'};
    const char* at = name.data();
    const char* const end = name.data() + name.size();
    for (int i = 0; i < 5; ++i) {
        const bool is_letter = at != end && *at == letters[i];
        const auto [next, error] = is_letter ? std::from_chars(at + 1, end, numbers[i]) : std::from_chars_result{at, std::errc::invalid_argument};
        if (error != std::errc{})
            throw Error(fmt::format("\"{}\" is no place of a node as c0-0c0s0n0 is", name));
        at = next;
    }
    if (cabinets_in_row == 0)
        throw Error("\"cabinets_in_row\" is needed with such places: which cabinets make a group follows from it");
    const uint32_t chassis_in_cabinet = rows > 1 ? rows / 2 : 1;
    const uint32_t row = numbers[0] % 2 * chassis_in_cabinet + numbers[2];
    if (at != end || numbers[0] >= cabinets_in_row || numbers[2] >= chassis_in_cabinet || row >= rows || numbers[3] >= columns)
        throw Error(fmt::format("{} lies outside of the {} rows and {} columns of a group", name, rows, columns));
    const double group = static_cast<double>(numbers[1]) * ((cabinets_in_row + 1) / 2) + numbers[0] / 2;
    const double router = (group * rows + row) * columns + numbers[3];
    if (router >= UINT32_MAX)
        throw Error(fmt::format("{} lies in more groups than can be numbered", name));
    return static_cast<uint32_t>(router);
}

} // namespace plumb::network
