// The files that a program had mapped, as its memory showed their read-only parts.
#pragma once

#include "samples.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plumb::witness {

struct Module {
    std::string path;
    const unsigned char* data = nullptr; // the file
    size_t size = 0;
    uint64_t bias = 0;                 // of its addresses in the program
    uint64_t table = 0, rows = 0;      // .eh_frame_hdr: its address in the program, its number of entries; 0: it has none
    uint64_t begin = 0, end = 0;       // of all its segments in the program
};

class ModuleFiles {
  public:
    explicit ModuleFiles(const Program& program);
    ~ModuleFiles();
    ModuleFiles(const ModuleFiles&) = delete;
    ModuleFiles& operator=(const ModuleFiles&) = delete;

    // Null: no file's segment is mapped there.
    const Module* at(uint64_t address) const;
    // Two files were mapped there one after the other: which of them when is not known, as nothing reports what is unmapped.
    bool is_of_two(uint64_t address) const;
    // A word of a segment, as the file has it.
    bool word(uint64_t address, uint64_t& value) const;
    const std::vector<Module>& modules() const { return modules_; }

  private:
    struct Segment {
        uint64_t start, end;
        const unsigned char* data;
        size_t module;
    };
    void add(const Mapping& mapping);

    const Program& program_;
    std::vector<Module> modules_;
    std::vector<Segment> segments_; // sorted by start
};

} // namespace plumb::witness
