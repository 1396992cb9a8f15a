// AlignFlags as the model tells them.
#pragma once

#include "model/alignment.h"

#include <plumb/trace_format.h>

namespace plumb::trace {

inline model::AccessKind access_kind(uint32_t flags, uint32_t width) {
    return {.width = width,
            .load = (flags & kAlignLoad) != 0,
            .store = (flags & kAlignStore) != 0,
            .locked = (flags & kAlignLocked) != 0,
            .string = (flags & kAlignString) != 0,
            .stack = (flags & kAlignStack) != 0,
            .packed = (flags & kAlignPacked) != 0};
}

} // namespace plumb::trace
