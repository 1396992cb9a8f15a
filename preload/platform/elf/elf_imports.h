// What a loaded image takes from other images by name.
#pragma once

#include <link.h>

namespace plumb::shim {

// Whether `wanted` is true of the name of any symbol that the image refers to and does not define. Reads the image's
// relocations in memory; false for images without any (static ones, the vDSO). Signal-safe.
bool imports_symbol(const dl_phdr_info& image, bool (*wanted)(const char* name));

} // namespace plumb::shim
