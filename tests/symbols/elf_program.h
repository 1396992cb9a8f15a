// What the tests need to know about an ELF file, read without the code under test.
#pragma once

#include "model/run.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plumb_test {

// A module of a process that mapped the code of `path` at an address of its own choice.
struct MappedProgram {
    std::string path;
    plumb::model::Module module;
    uint64_t text_begin = 0, text_end = 0; // .text, addresses in the file

    explicit MappedProgram(const std::string& path);
    uint64_t runtime_address(uint64_t file_address) const; // in the process
  private:
    uint64_t code_address_ = 0, code_offset_ = 0;
};

struct TruthFrame {
    std::string function, file;
    uint32_t line = 0;
    bool operator==(const TruthFrame&) const = default;
};

// addr2line's answer for every address in [begin, end).
std::map<uint64_t, std::vector<TruthFrame>> ask_addr2line(const std::string& path, uint64_t begin, uint64_t end);

// Output of a shell command.
std::string output_of(const std::string& command);

} // namespace plumb_test
