// For tests of machine code written as bytes: where it lies, its registers, and the decoder that they need.
#pragma once

#include "platform/code/decoder.h"

#include <catch2/catch.hpp>

#include <cstdint>

#if defined(__x86_64__)

namespace plumb::record {

inline constexpr uint64_t kStart = 0x401000;
inline constexpr int kRax = 0, kRdx = 1, kRcx = 2, kRsi = 4, kRdi = 5;

inline const struct Decoder {
    Decoder() { shim::load_decoder(nullptr); }
} decoder;

#define NEEDS_DECODER()                                                                                      \
    if (!shim::has_decoder()) {                                                                              \
        WARN("not tested: no decoder here");                                                                 \
        return;                                                                                              \
    }

} // namespace plumb::record

#endif
