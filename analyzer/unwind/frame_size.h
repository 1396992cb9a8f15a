// How far below its frame pointer a function keeps the stack pointer: what finds the frame pointer of a thread of which only the
// stack pointer is known, because it is blocked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace plumb::unwind {

// Distance in bytes from rsp up to rbp, where the function is about to call or has got as far as the end of `code`: its
// instructions from the first one on, up to there. Nothing where it does not begin with push %rbp and mov %rsp,%rbp in a straight
// line, where its frame has no fixed size, or without a decoder (load_decoder). A function that pushes arguments of a call is not
// recognised: the caller checks that a return address stands above the frame pointer.
std::optional<uint32_t> frame_bytes(std::span<const uint8_t> code);

} // namespace plumb::unwind
