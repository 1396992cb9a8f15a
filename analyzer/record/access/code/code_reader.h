// Bytes of the code that sampled processes run: from the files that are mapped, so that what a tool or debugger has
// written over them does not matter; from the process itself where there is no such file (code made at run time).
#pragma once

#include "record/perf/process_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace plumb::record {

class CodeReader {
  public:
    CodeReader() = default;
    ~CodeReader();
    CodeReader(const CodeReader&) = delete;
    CodeReader& operator=(const CodeReader&) = delete;

    // Copies at most `bytes` bytes from `address` on, none from behind the end of `module` (the mapping of `process`
    // that begins at `start` and holds the address). Returns how many; 0 when neither file nor process can be read.
    size_t read(const Process& process, uint64_t start, const MappedModule& module, uint64_t address, uint8_t* to,
                size_t bytes);

    // The same number for mappings of the same file by any process: what was learned from one serves all. 0: the
    // mapping has no file whose content is known to be what is mapped.
    uint32_t file_number(const Process& process, const MappedModule& module);

  private:
    struct File {
        int fd = -1; // -1: closed, to keep the number of descriptors small, or (number 0) not usable
        uint32_t number = 0;
    };
    File& file_of(const Process& process, const MappedModule& module);
    void close_files();

    std::unordered_map<std::string, File> files_; // by path and build id
    uint32_t numbers_ = 0, open_ = 0;
};

} // namespace plumb::record
