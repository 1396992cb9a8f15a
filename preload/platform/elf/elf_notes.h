// Build ids of loaded images.
#pragma once

#include <link.h>
#include <stdint.h>

namespace plumb::shim {

struct BuildId {
    uint8_t bytes[20];
    uint8_t size; // 0: none
};

// Searches a note segment of `length` bytes; notes are aligned to `alignment` (4 or 8).
BuildId build_id_in_notes(const uint8_t* notes, uint64_t length, uint64_t alignment);

// Searches the note segments of an image loaded at `base` whose program headers are at hand.
BuildId build_id_of_image(uint64_t base, const ElfW(Phdr) * headers, uint32_t count);

} // namespace plumb::shim
