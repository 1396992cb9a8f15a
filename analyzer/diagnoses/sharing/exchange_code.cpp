#include "diagnoses/sharing/exchange_code.h"

#include <algorithm>
#include <array>

namespace plumb {

bool is_exchange(std::span<const uint8_t> code) {
    constexpr std::array<uint8_t, 10> kPrefixes = {0xf0, 0xf2, 0xf3, 0x66, 0x67, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    size_t at = 0;
    while (at < code.size() && std::ranges::count(kPrefixes, code[at]))
        ++at;
    if (at < code.size() && (code[at] & 0xf0) == 0x40) // REX
        ++at;
    if (at >= code.size())
        return false;
    if (code[at] == 0x86 || code[at] == 0x87) // xchg
        return true;
    if (code[at] != 0x0f || at + 2 >= code.size())
        return false;
    const uint8_t opcode = code[at + 1], group = code[at + 2] >> 3 & 7;
    switch (opcode) {
    case 0xb0: // cmpxchg
    case 0xb1:
    case 0xab: // bts
    case 0xb3: // btr
    case 0xbb: // btc
        return true;
    case 0xba: // bts, btr, btc with a number
        return group >= 5;
    case 0xc7: // cmpxchg8b, cmpxchg16b
        return group == 1;
    default:
        return false;
    }
}

} // namespace plumb
