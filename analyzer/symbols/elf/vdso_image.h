// The code that the kernel maps into every process. It is in no file; this process has a copy.
#pragma once

#include "symbols/elf/elf_image.h"

#include <memory>
#include <string>

namespace plumb::symbols {

// This process's vDSO if it is the very one with `build_id`; else null.
std::unique_ptr<ElfImage> open_own_vdso(const std::string& build_id);

} // namespace plumb::symbols
