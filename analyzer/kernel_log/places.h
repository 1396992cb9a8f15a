// Where the instructions that a kernel's log names lie in the source: by the modules of a recorded run, or by programs and libraries.
#pragma once

#include "kernel_log/gathered.h"
#include "model/run.h"
#include "model/source_resolver.h"

#include <string>
#include <vector>

namespace plumb::kernel_log {

struct Place {
    std::string file;                       // program or library; empty: not known
    std::vector<model::SourceFrame> frames; // innermost first; empty: see why_not
    std::string why_not;
};

class Places {
  public:
    // `run`: or null. `binaries`: paths. `resolver` must outlive this. Throws Error where a binary is no ELF file.
    Places(const model::Run* run, const std::vector<std::string>& binaries, model::SourceResolver& resolver);

    Place of(const Group& group);

  private:
    struct Binary {
        std::string path, name;
        uint64_t code_address = 0, code_file_offset = 0, code_bytes = 0; // of its executable segment
        bool is_movable = false;                                         // loaded anywhere: its addresses say nothing without its begin
    };

    std::optional<Place> in_run(const Group& group);
    std::optional<Place> in_binaries(const Group& group);

    const model::Run* run_;
    std::vector<Binary> binaries_;
    model::SourceResolver& resolver_;
};

} // namespace plumb::kernel_log
