// An instruction of one of the programs that a process executed, as a key of tables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb::record {

struct WalkerKey {
    uint64_t instruction = 0, generation = 0; // generation: which of the programs
    bool operator==(const WalkerKey&) const = default;
};

struct WalkerKeyHash {
    size_t operator()(const WalkerKey& key) const { return (key.instruction ^ key.generation << 48) * 0x9e3779b97f4a7c15u >> 7; }
};

} // namespace plumb::record
