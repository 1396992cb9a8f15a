#include "platform/elf/loaded_paths.h"

#include "platform/os/memory.h"

#include <string.h>

namespace plumb::shim {

LoadedPaths::LoadedPaths() : text_(static_cast<char*>(allocate_pages(kRoom, false))) {
    if (text_)
        dl_iterate_phdr(note, this);
}

LoadedPaths::~LoadedPaths() {
    if (text_)
        release_pages(text_, kRoom);
}

int LoadedPaths::note(dl_phdr_info* object, size_t, void* paths) {
    auto& all = *static_cast<LoadedPaths*>(paths);
    if (!object->dlpi_name || object->dlpi_name[0] != '/')
        return 0;
    const size_t bytes = strlen(object->dlpi_name) + 1;
    if (bytes > kRoom - all.used_)
        return 0;
    memcpy(all.text_ + all.used_, object->dlpi_name, bytes);
    all.used_ += bytes;
    return 0;
}

const char* LoadedPaths::behind(const char* path) const {
    const char* const next = path + strlen(path) + 1;
    return next < text_ + used_ ? next : nullptr;
}

} // namespace plumb::shim
