// What the recorder must know of an executable before and while it runs. Reads headers only; symbols/ reads the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumb::platform {

struct ElfImage {
    bool is_64_bit = false;
    uint16_t machine = 0;       // EM_...
    uint16_t type = 0;          // ET_EXEC, ET_DYN
    bool has_interpreter = false; // false for an executable: statically linked
    std::string interpreter;
    std::vector<uint8_t> build_id;

    bool is_native() const; // same word size and architecture as this program
};

// Nothing if the file cannot be read or is not ELF. Any content is safe.
std::optional<ElfImage> read_elf_image(const std::string& path);

} // namespace plumb::platform
