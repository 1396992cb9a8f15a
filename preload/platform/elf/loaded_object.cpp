#include "platform/elf/loaded_object.h"

#include <dlfcn.h>

// glibc 2.35 and later. dladdr(), which all have, looks through the image's symbols as well: some ten microseconds.
extern "C" int _dl_find_object(void* address, struct dl_find_object* result) __attribute__((weak));

namespace plumb::shim {

const link_map* loaded_object_without_lock(const void* address) {
    dl_find_object found;
    if (!_dl_find_object || !address || _dl_find_object(const_cast<void*>(address), &found) != 0)
        return nullptr;
    return found.dlfo_link_map;
}

const link_map* loaded_object(const void* address) {
    if (_dl_find_object)
        return loaded_object_without_lock(address);
    Dl_info found;
    void* object = nullptr;
    return dladdr1(address, &found, &object, RTLD_DL_LINKMAP) ? static_cast<const link_map*>(object) : nullptr;
}

} // namespace plumb::shim
