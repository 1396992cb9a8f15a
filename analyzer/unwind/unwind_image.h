// The unwind table of one executable file or library, copied out of the file, and what its .debug_frame describes besides.
#pragma once

#include "unwind/frame_index.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::unwind {

class UnwindImage {
  public:
    // Null: no such file, not an ELF file of this word size, or without call-frame information. Any content is safe.
    static std::unique_ptr<UnwindImage> read(const std::string& path);
    static std::unique_ptr<UnwindImage> of_memory(std::span<const unsigned char> image);
    // The image that the kernel maps into every process.
    static std::unique_ptr<UnwindImage> of_vdso();

    // Address in the image (as its program headers count) of a byte of the file; nothing outside of its segments.
    std::optional<uint64_t> address_of(uint64_t file_offset) const;

    // The function (or the part of one that has a table entry of its own) that `address` of the image may lie in: the
    // last entry that begins at or before it. Code without an entry seems to belong to the one before.
    std::optional<FunctionRange> function_at(uint64_t address) const;

    // Rule at an address of the image, packed as plumb::shim::UnwindRule does; remembered for the next time.
    uint64_t rule_at(uint64_t address);

    // See frame_size.h: of the function at an address of the image, which has got that far; remembered. Reads its first bytes
    // from the file. Nothing for an image without one.
    std::optional<uint32_t> frame_bytes_at(uint64_t address);

  private:
    struct Segment {
        uint64_t offset, address, bytes;
    };
    std::optional<uint32_t> read_frame_bytes(uint64_t start, uint64_t end) const; // of the function at `start`, up to `end`
    static std::unique_ptr<UnwindImage> parse(int file, const unsigned char* memory, uint64_t bytes);
    bool read_table(const ElfSource& source); // .eh_frame_hdr is there. False: it is damaged

    std::vector<Segment> segments_;
    std::vector<unsigned char> table_; // .eh_frame_hdr and .eh_frame: from table_address_ on to the end of its segment; or empty
    uint64_t table_address_ = 0, header_address_ = 0;
    std::vector<FrameIndex> indices_;  // of code that the table leaves out
    std::unordered_map<uint64_t, uint64_t> rules_;
    std::unordered_map<uint64_t, std::optional<uint32_t>> frame_bytes_;
    std::string path_; // empty: none
    std::optional<uint64_t> signal_return_; // where handlers return to, in an image whose table does not say so
};

} // namespace plumb::unwind
