// One ELF file on disk, opened for its headers: what identifies it, where its segments lie, where its debug info may
// be. Reads a few pages, not the file.
#pragma once

#include <cstdint>
#include <libelf.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plumb::symbols {

struct Segment { // a PT_LOAD
    uint64_t file_offset = 0, address = 0, file_bytes = 0;
    bool executable = false;
    uint64_t memory_bytes = 0;
};

struct Section {
    std::string name;
    uint64_t address = 0, bytes = 0;
    bool executable = false;
};

class ElfImage {
  public:
    // Null: it cannot be read, or is no ELF file; errno-like text in `why`.
    static std::unique_ptr<ElfImage> open(const std::string& path, std::string* why = nullptr);
    ~ElfImage();
    ElfImage(const ElfImage&) = delete;
    ElfImage& operator=(const ElfImage&) = delete;

    const std::string& path() const { return path_; }
    uint64_t file_bytes() const { return file_bytes_; }
    uint64_t modified_ns() const { return modified_ns_; } // Unix time
    const std::string& build_id() const { return build_id_; } // lower-case hex, may be empty
    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<Section>& sections() const { return sections_; } // those that are loaded
    bool has_debug_info() const { return has_debug_info_; }
    bool has_symbol_table() const { return has_symbol_table_; } // .symtab, not just .dynsym
    const std::string& debug_link() const { return debug_link_; } // .gnu_debuglink, may be empty
    uint32_t debug_link_crc() const { return debug_link_crc_; }
    const std::string& alternate_link() const { return alternate_link_; } // .gnu_debugaltlink (dwz), may be empty
    const std::string& alternate_build_id() const { return alternate_build_id_; }
    // Bytes of the file at an address of its executable segments; as many as there are.
    std::vector<uint8_t> code_at(uint64_t address, uint64_t bytes) const;
    int machine() const { return machine_; } // EM_*

    // Address inside the file's own address space of what lies at `file_offset`; none: it is not loaded from there.
    std::optional<uint64_t> address_of(uint64_t file_offset) const;

    Elf* elf() const { return elf_; }

  private:
    ElfImage() = default;
    void read_headers();

    std::string path_, build_id_, debug_link_, alternate_link_, alternate_build_id_;
    uint64_t file_bytes_ = 0, modified_ns_ = 0;
    uint32_t debug_link_crc_ = 0;
    bool has_debug_info_ = false, has_symbol_table_ = false;
    int machine_ = 0;
    std::vector<Segment> segments_;
    std::vector<Section> sections_;
    int fd_ = -1;
    Elf* elf_ = nullptr;
};

// True if both are known and name the same file. Records keep 20 bytes of an id, files may have more.
bool same_build_id(const std::string& a, const std::string& b);

} // namespace plumb::symbols
