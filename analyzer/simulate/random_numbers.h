// Random numbers by counter: each is a function of its key alone, so events need no state, may be asked for in any order and by
// any thread, and removing one class of noise changes no event of another.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumb::simulate {

// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
constexpr uint64_t mixed(uint64_t key) {
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

// The key of the `number`th thing of what `key` names.
constexpr uint64_t key_of(uint64_t key, uint64_t number) {
    return mixed(key + (number + 1) * 0x9e3779b97f4a7c15u);
}

// FNV-1a with 64 bits: the same on every machine.
constexpr uint64_t key_of_name(std::string_view name) {
    uint64_t key = 0xcbf29ce484222325u;
    for (const char letter : name)
        key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    return key;
}

// From 0 up to but not including 1, in steps of 2^-53.
constexpr double fraction_of(uint64_t random) {
    return static_cast<double>(random >> 11) * 0x1p-53;
}

} // namespace plumb::simulate
