// Where the debug info of a file is: in itself, in a separate file by build id or .gnu_debuglink, or on a server.
// Whatever is found is verified before it is used.
#pragma once

#include "symbols/elf/elf_image.h"

#include <memory>
#include <string>
#include <vector>

namespace plumb::symbols {

struct DebugFileSearch {
    std::string sysroot;
    std::vector<std::string> directories; // of debug files, inside the sysroot
    bool debuginfod = false;
};

// The separate debug file of `image`, or of a file known by its build id alone (image null). Null: there is none.
std::unique_ptr<ElfImage> find_debug_file(const DebugFileSearch& search, const ElfImage* image,
                                          const std::string& build_id);

// The file that dwz moved common parts of `of` into. Empty: none, or not the right one.
std::string find_alternate_file(const DebugFileSearch& search, const ElfImage& of);

} // namespace plumb::symbols
